import java.sql.*;

class Orders {
    Connection open(String name, String password) throws SQLException {
        // ok: clear-text-protocol
        return DriverManager.getConnection("jdbc:mysql://store.example/orders?sslMode=VERIFY_IDENTITY", name, password);
    }
}
