import javax.servlet.http.*;

class Noise extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        int n = Integer.parseInt(request.getParameter("size"));
        // ruleid: request-sized-allocation
        byte[] room = new byte[n];
        response.setIntHeader("X-Room", room.length);
    }
}
