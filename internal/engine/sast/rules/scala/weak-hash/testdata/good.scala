import java.security.MessageDigest

object Sums {
  def sum(data: Array[Byte]) = MessageDigest.getInstance("SHA-256").digest(data)
}
