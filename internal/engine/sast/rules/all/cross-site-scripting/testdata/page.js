const link = document.createElement("a");
// ruleid: cross-site-scripting-dom
link.href = new URLSearchParams(location.search).get("next");
// ok: cross-site-scripting-dom
link.href = "/users/" + location.hash.slice(1);
// ruleid: cross-site-scripting-dom
link.setAttribute("href", decodeURIComponent(location.hash.slice(1)));
// ok: cross-site-scripting-dom
link.setAttribute("title", location.hash);
const image = document.createElement("img");
// ok: cross-site-scripting-dom
image.src = location.hash.slice(1);
const frame = document.createElement("iframe");
// ruleid: cross-site-scripting-dom
frame.src = location.hash.slice(1);
// ruleid: cross-site-scripting-dom
setTimeout(location.hash.substr(1), 10);
// ruleid: cross-site-scripting-dom
location = location.hash.slice(1);
// ruleid: cross-site-scripting-dom
new Worker(location.hash.slice(1));

const field = document.querySelector("#comment");
// ruleid: cross-site-scripting-through-dom
document.querySelector("#preview").innerHTML = field.value;
// ok: cross-site-scripting-through-dom
document.querySelector("#preview").textContent = field.value;

fetch("/news").then((r) => r.text()).then((text) => {
  // ruleid: cross-site-scripting-response
  document.querySelector("#news").innerHTML = text;
  // ok: cross-site-scripting-response
  document.querySelector("#news").textContent = text;
});
