import java.net.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        // ruleid: server-side-request-forgery
        new URL(v).openStream();
    }
}
