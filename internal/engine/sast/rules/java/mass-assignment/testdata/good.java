import javax.servlet.http.*;

class Register extends HttpServlet {
    protected void doPost(HttpServletRequest request, HttpServletResponse response) {
        User user = new User();
        // ok: mass-assignment
        user.setName(request.getParameter("name"));
    }
}
