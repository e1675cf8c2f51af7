import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class Security {
    void configure(HttpSecurity http) throws Exception {
        // ruleid: session-fixation
        http.sessionManagement().sessionFixation().none();
    }
}
