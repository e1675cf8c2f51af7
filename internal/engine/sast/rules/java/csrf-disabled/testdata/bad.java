class Security {
    void configure(HttpSecurity http) throws Exception {
        // ruleid: csrf-disabled
        http.csrf().disable();
    }
}
