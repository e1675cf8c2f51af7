// ok: message-from-any-origin
window.addEventListener("message", (event) => {
  if (event.origin !== "https://shop.example") return;
  show(event.data.name);
});
