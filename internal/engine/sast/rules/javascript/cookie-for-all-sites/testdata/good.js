function mark(res, token) {
  // ok: cookie-for-all-sites
  res.cookie("session", token, { secure: true, httpOnly: true, sameSite: "lax" });
}
