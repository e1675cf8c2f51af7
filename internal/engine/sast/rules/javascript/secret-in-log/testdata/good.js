function login(req, res) {
  // ok: secret-in-log
  console.log("sign-in", req.body.name);
  // ok: secret-in-log
  console.log("password too short", req.body.password.length);
}
