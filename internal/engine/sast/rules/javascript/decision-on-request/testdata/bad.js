function remove(req, res) {
  // ruleid: decision-on-request
  if (req.cookies.isAdmin === "true") {
    drop(req.params.id);
  }
  res.end();
}
