import javax.servlet.http.*;

class Login {
    void mark(Cookie c) {
        // ruleid: cookie-without-httponly
        c.setHttpOnly(false);
    }
}
