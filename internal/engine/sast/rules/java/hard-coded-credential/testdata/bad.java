import java.sql.*;

class Db {
    Connection open() throws SQLException {
        // ruleid: hard-coded-credential
        return DriverManager.getConnection("jdbc:postgresql://db/shop", "shop", "s3cr3t");
    }
}
