import org.slf4j.*;

class Login {
    private static final Logger log = LoggerFactory.getLogger(Login.class);

    void login(String name, String password) {
        // ok: secret-in-log
        log.info("sign-in of {}", name);
    }
}
