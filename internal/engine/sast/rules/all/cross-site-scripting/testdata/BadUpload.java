import com.oreilly.servlet.MultipartRequest;
import javax.servlet.http.*;

class BadUpload extends HttpServlet {
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws Exception {
        MultipartRequest upload = new MultipartRequest(request, "/var/uploads");
        // ruleid: cross-site-scripting
        response.getWriter().println(upload.getParameter("title"));
    }
}
