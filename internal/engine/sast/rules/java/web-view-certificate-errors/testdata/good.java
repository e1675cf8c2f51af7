import android.net.http.SslError;
import android.webkit.*;

class Client extends WebViewClient {
    // ok: web-view-certificate-errors
    @Override
    public void onReceivedSslError(WebView view, SslErrorHandler handler, SslError error) {
        handler.cancel();
    }
}
