import javax.naming.directory.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        DirContext d = new InitialDirContext();
        d.search("dc=example", "(uid={0})", new Object[] {v}, null);
    }
}
