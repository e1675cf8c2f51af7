import java.io.PrintWriter;
import javax.servlet.http.*;

class GoodContent extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        response.setContentType("text/plain");
        try (PrintWriter out = response.getWriter()) {
            out.println(request.getParameter("name"));
        }
    }
}
