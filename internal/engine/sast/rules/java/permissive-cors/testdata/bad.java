class Filter {
    void open(javax.servlet.http.HttpServletResponse response) {
        // ruleid: permissive-cors
        response.setHeader("Access-Control-Allow-Origin", "*");
    }
}
