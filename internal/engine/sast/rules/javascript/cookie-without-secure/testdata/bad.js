function login(req, res) {
  // ruleid: cookie-without-secure
  res.cookie("id", session(req), { secure: false });
}
