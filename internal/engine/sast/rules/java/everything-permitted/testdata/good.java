import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class Security {
    void configure(HttpSecurity http) throws Exception {
        // ok: everything-permitted
        http.authorizeRequests().antMatchers("/login", "/css/**").permitAll().anyRequest().authenticated();
    }
}
