function open(req, res) {
  // ruleid: permissive-cors
  res.setHeader("Access-Control-Allow-Origin", "*");
}
