fun start() {
    // ruleid: web-view-debugging
    WebView.setWebContentsDebuggingEnabled(true)
}
