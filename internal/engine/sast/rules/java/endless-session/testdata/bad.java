import javax.servlet.http.*;

class Login {
    void begin(HttpSession session) {
        // ruleid: endless-session
        session.setMaxInactiveInterval(-1);
    }
}
