import java.util.logging.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        Logger log = Logger.getLogger("x");
        // ruleid: log-injection
        log.info("login of " + v);
    }
}
