function login(req, res) {
  // ruleid: secret-in-log
  console.log("sign-in", req.body.name, req.body.password);
}
