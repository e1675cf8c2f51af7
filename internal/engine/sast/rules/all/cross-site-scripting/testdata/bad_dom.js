const name = new URLSearchParams(location.search).get("name");
// ruleid: cross-site-scripting-dom
document.getElementById("hello").innerHTML = "Hello " + name;
