fun setUp(view: WebView) {
    view.settings.allowFileAccessFromFileURLs = false
    view.settings.javaScriptEnabled = false
}
