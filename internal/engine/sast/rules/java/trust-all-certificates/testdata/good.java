import java.security.cert.*;
import javax.net.ssl.*;

class Pinned implements X509TrustManager {
    private final X509TrustManager inner;

    Pinned(X509TrustManager inner) { this.inner = inner; }

    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException { inner.checkClientTrusted(chain, type); }

    // ok: trust-all-certificates
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException { inner.checkServerTrusted(chain, type); }

    public X509Certificate[] getAcceptedIssuers() { return inner.getAcceptedIssuers(); }
}
