function mark(res, token) {
  // ruleid: cookie-for-all-sites
  res.cookie("session", token, { secure: true, httpOnly: true, sameSite: "none" });
}
