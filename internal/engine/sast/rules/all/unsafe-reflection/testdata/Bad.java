import javax.servlet.http.*;

class Bad extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        // ruleid: unsafe-reflection
        Class.forName(v);
    }
}
