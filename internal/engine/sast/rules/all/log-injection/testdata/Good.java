import java.util.logging.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        Logger log = Logger.getLogger("x");
        log.info("login of " + v.replaceAll("[\\r\\n]", "_"));
    }
}
