function tell(frame, data) {
  // ok: message-to-any-origin
  frame.contentWindow.postMessage(data, "https://shop.example");
}
