import java.io.*;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        ObjectInputStream in = new ObjectInputStream(request.getInputStream());
        // ruleid: unsafe-deserialization
        in.readObject();
    }
}
