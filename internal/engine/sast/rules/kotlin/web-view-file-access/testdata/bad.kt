fun setUp(view: WebView) {
    // ruleid: web-view-file-access
    view.settings.allowUniversalAccessFromFileURLs = true
    // ruleid: web-view-file-access
    view.settings.setAllowFileAccessFromFileURLs(true)
}
