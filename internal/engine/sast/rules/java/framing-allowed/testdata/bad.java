import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class Security {
    void configure(HttpSecurity http) throws Exception {
        // ruleid: framing-allowed
        http.headers().frameOptions().disable();
    }

    void again(HttpSecurity http) throws Exception {
        // ruleid: framing-allowed
        http.headers(headers -> headers.frameOptions(frame -> frame.disable()));
    }
}
