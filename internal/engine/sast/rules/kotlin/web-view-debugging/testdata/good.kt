fun start() {
    WebView.setWebContentsDebuggingEnabled(BuildConfig.DEBUG)
}
