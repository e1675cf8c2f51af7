import android.webkit.WebView;

class Screen {
    void show(WebView view) {
        // ruleid: web-view-open
        view.getSettings().setAllowFileAccessFromFileURLs(true);
        // ruleid: web-view-open
        view.addJavascriptInterface(new Bridge(), "bridge");
    }
}
