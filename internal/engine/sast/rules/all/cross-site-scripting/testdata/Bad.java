import org.owasp.encoder.Encode;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        // ruleid: cross-site-scripting
        response.getWriter().println("<p>" + v + "</p>");
    }
}
