class Filter {
    void open(javax.servlet.http.HttpServletResponse response) {
        // ok: permissive-cors
        response.setHeader("Access-Control-Allow-Origin", "https://shop.example");
    }
}
