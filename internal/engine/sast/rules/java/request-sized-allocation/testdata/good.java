import javax.servlet.http.*;

class Noise extends HttpServlet {
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
        int n = Integer.parseInt(request.getParameter("size"));
        if (n < 0 || n > 4096) {
            response.setStatus(400);
            return;
        }
        // ok: request-sized-allocation
        byte[] room = new byte[n];
        response.setIntHeader("X-Room", room.length);
    }
}
