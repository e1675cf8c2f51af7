package shop;

import java.sql.*;

class Store {
  ResultSet find(String who) throws SQLException {
    return open().executeQuery("select * from t where n = '" + who + "'"); // want sql
  }
  ResultSet count(int n) throws SQLException {
    return open().executeQuery("select count(*) from t limit " + n);
  }
  private Statement open() throws SQLException {
    return DriverManager.getConnection("jdbc:x").createStatement();
  }
}
