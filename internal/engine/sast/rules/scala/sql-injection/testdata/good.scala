object Users {
  def find(connection: java.sql.Connection, name: String) = {
    val statement = connection.prepareStatement("SELECT * FROM users WHERE name = ?")
    statement.setString(1, name)
    statement.executeQuery()
  }
}
