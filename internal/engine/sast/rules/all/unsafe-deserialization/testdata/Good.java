import java.io.*;
import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        ObjectInputStream in = new ObjectInputStream(new FileInputStream("/data/state"));
        in.readObject();
    }
}
