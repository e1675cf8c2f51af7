const User = require("./user");

async function register(req, res) {
  // ruleid: mass-assignment
  const user = await User.create(req.body);
  res.json({ id: user.id });
}

async function change(req, res) {
  // ruleid: mass-assignment
  await User.findByIdAndUpdate(req.params.id, req.body);
  res.end();
}
