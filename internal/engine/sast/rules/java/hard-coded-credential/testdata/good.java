import java.sql.*;

class Db {
    Connection open() throws SQLException {
        // ok: hard-coded-credential
        return DriverManager.getConnection("jdbc:postgresql://db/shop", "shop", System.getenv("DB_PASSWORD"));
    }
}
