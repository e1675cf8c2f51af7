function mark(res, token) {
  // ok: cookie-without-httponly
  res.cookie("session", token, { secure: true, httpOnly: true });
}
