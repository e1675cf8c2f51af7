import java.nio.file.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        int v = Integer.parseInt(request.getParameter("v"));
        Files.readAllBytes(Paths.get("/data/" + v));
    }
}
