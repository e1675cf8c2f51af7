function open(req, res) {
  // ok: permissive-cors
  res.setHeader("Access-Control-Allow-Origin", "https://shop.example");
}
