import java.io.IOException;
import javax.servlet.http.*;

class Order extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            find(request);
        } catch (RuntimeException e) {
            // ruleid: error-text-to-client
            e.printStackTrace(response.getWriter());
        }
    }
}
