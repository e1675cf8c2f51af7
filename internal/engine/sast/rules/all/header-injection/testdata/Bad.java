import javax.mail.internet.MimeMessage;
import javax.servlet.http.*;

class Bad extends HttpServlet {
    private MimeMessage message;

    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        // ruleid: header-injection
        message.setSubject(v);
    }
}
