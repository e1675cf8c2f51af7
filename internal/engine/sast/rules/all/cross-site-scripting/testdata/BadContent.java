import java.io.PrintWriter;
import javax.servlet.http.*;

class BadContent extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        response.setContentType("text/html");
        try (PrintWriter out = response.getWriter()) {
            // ruleid: cross-site-scripting
            out.println(request.getParameter("name"));
        }
    }
}
