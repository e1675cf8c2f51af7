import javax.servlet.http.*;

class Login {
    void mark(HttpServletResponse response, String id) {
        Cookie c = new Cookie("id", id);
        // ruleid: cookie-without-secure
        c.setSecure(false);
        response.addCookie(c);
    }

    void plain(HttpServletResponse response, String id) {
        Cookie c = new Cookie("id", id);
        c.setHttpOnly(true);
        // ruleid: cookie-without-secure
        response.addCookie(c);
    }
}
