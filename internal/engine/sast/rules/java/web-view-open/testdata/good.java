import android.webkit.WebView;

class Screen {
    void show(WebView view) {
        // ok: web-view-open
        view.getSettings().setAllowFileAccessFromFileURLs(false);
        view.loadUrl("https://shop.example");
    }
}
