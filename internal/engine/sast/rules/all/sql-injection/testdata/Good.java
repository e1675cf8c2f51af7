import java.sql.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        PreparedStatement s = DriverManager.getConnection("jdbc:x").prepareStatement("SELECT * FROM t WHERE a = ?");
        s.setString(1, v);
        s.executeQuery();
        int n = Integer.parseInt(v);
        DriverManager.getConnection("jdbc:x").createStatement().executeQuery("SELECT * FROM t WHERE n = " + n);
    }
}
