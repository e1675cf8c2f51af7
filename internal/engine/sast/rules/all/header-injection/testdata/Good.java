import javax.mail.internet.MimeMessage;
import javax.servlet.http.*;

class Good extends HttpServlet {
    private MimeMessage message;

    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        message.setSubject("Welcome");
        response.setHeader("X-Name", v); // containers refuse line breaks
        response.sendRedirect("/page/" + v);
    }
}
