import org.owasp.encoder.Encode;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        response.getWriter().println("<p>" + Encode.forHtml(v) + "</p>");
    }
}
