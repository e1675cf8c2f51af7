function remove(req, res) {
  // ok: decision-on-request
  if (req.session.user && req.session.user.role === "admin") {
    drop(req.params.id);
  }
  res.end();
}
