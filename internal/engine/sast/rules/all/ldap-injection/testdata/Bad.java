import javax.naming.directory.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        DirContext d = new InitialDirContext();
        // ruleid: ldap-injection
        d.search("dc=example", "(uid=" + v + ")", null);
    }
}
