const name = new URLSearchParams(location.search).get("name");
document.getElementById("hello").textContent = "Hello " + name;
