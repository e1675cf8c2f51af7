import javax.net.ssl.SSLContext;

class Net {
    SSLContext make() throws Exception {
        // ruleid: insecure-protocol-version
        return SSLContext.getInstance("TLSv1");
    }
}
