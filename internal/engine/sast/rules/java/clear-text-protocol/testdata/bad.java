import java.sql.*;

class Orders {
    Connection open(String name, String password) throws SQLException {
        // ruleid: clear-text-protocol
        return DriverManager.getConnection("jdbc:mysql://store.example/orders?useSSL=false", name, password);
    }
}
