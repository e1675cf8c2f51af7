import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class Security {
    void configure(HttpSecurity http) throws Exception {
        // ok: framing-allowed
        http.headers().frameOptions().sameOrigin();
    }
}
