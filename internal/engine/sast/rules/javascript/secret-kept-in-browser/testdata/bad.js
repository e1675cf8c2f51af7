function remember(form) {
  // ruleid: secret-kept-in-browser
  localStorage.setItem("password", form.password.value);
}
