import javax.servlet.http.*;

class Login {
    void mark(Cookie c) {
        // ok: cookie-without-httponly
        c.setHttpOnly(true);
    }
}
