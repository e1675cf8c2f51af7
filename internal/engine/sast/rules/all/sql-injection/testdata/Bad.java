import java.sql.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        Statement s = DriverManager.getConnection("jdbc:x").createStatement();
        // ruleid: sql-injection
        s.executeQuery("SELECT * FROM t WHERE a = '" + v + "'");
    }
}
