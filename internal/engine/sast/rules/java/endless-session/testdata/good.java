import javax.servlet.http.*;

class Login {
    void begin(HttpSession session) {
        // ok: endless-session
        session.setMaxInactiveInterval(1800);
    }
}
