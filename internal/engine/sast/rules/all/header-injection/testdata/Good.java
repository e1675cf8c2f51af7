import javax.servlet.http.*;

class Good extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        String v = request.getParameter("v");
        response.setHeader("X-Name", java.net.URLEncoder.encode(v, "UTF-8"));
    }
}
