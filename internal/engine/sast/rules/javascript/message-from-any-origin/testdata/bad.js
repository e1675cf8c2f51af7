// ruleid: message-from-any-origin
window.addEventListener("message", (event) => {
  show(event.data.name);
});
