object Users {
  def find(statement: java.sql.Statement, name: String) = {
    // ruleid: sql-injection
    statement.executeQuery("SELECT * FROM users WHERE name = '" + name + "'")
  }
}
