import java.security.cert.X509Certificate;
import javax.net.ssl.*;

class Open implements X509TrustManager {
    public void checkClientTrusted(X509Certificate[] chain, String type) { throw new IllegalStateException(); }

    // ruleid: trust-all-certificates
    public void checkServerTrusted(X509Certificate[] chain, String type) { }

    public X509Certificate[] getAcceptedIssuers() { return new X509Certificate[0]; }

    SSLContext names() throws Exception {
        // ruleid: trust-all-certificates
        HttpsURLConnection.setDefaultHostnameVerifier((host, session) -> true);
        return SSLContext.getDefault();
    }
}
