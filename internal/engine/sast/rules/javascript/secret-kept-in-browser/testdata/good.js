function remember(form) {
  // ok: secret-kept-in-browser
  localStorage.setItem("name", form.name.value);
}
