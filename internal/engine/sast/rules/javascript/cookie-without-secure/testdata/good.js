function login(req, res) {
  // ok: cookie-without-secure
  res.cookie("id", session(req), { secure: true, httpOnly: true });
}
