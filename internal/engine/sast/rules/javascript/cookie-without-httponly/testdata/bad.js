function mark(res, token) {
  // ruleid: cookie-without-httponly
  res.cookie("session", token, { secure: true, httpOnly: false });
}
