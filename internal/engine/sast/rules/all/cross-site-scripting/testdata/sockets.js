const socket = io();

socket.on("message", (message) => {
  // ruleid: cross-site-scripting-stored
  document.querySelector("#last").innerHTML = message.text;
  // ok: cross-site-scripting-stored
  document.querySelector("#from").textContent = message.from;
});
