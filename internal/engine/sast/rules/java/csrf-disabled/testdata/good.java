class Security {
    void configure(HttpSecurity http) throws Exception {
        // ok: csrf-disabled
        http.csrf().csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse());
    }
}
