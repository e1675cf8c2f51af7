import java.security.MessageDigest

object Sums {
  // ruleid: weak-hash
  def sum(data: Array[Byte]) = MessageDigest.getInstance("MD5").digest(data)
}
