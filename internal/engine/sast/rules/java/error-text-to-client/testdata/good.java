import java.io.IOException;
import javax.servlet.http.*;

class Order extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            find(request);
        } catch (RuntimeException e) {
            log("cannot find the order", e);
            // ok: error-text-to-client
            response.sendError(500, "internal error");
        }
    }
}
