import javax.servlet.http.*;

class Login {
    void mark(HttpServletResponse response, String id) {
        Cookie c = new Cookie("id", id);
        // ok: cookie-without-secure
        c.setSecure(true);
        c.setHttpOnly(true);
        response.addCookie(c);
    }
}
