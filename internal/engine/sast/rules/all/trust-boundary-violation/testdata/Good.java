import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        request.getSession().setAttribute("count", Integer.parseInt(v));
    }
}
