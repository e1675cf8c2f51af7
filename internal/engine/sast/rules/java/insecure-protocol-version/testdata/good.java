import javax.net.ssl.SSLContext;

class Net {
    SSLContext make() throws Exception {
        // ok: insecure-protocol-version
        return SSLContext.getInstance("TLSv1.3");
    }
}
