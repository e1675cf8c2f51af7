function tell(frame, data) {
  // ruleid: message-to-any-origin
  frame.contentWindow.postMessage(data, "*");
}
