const User = require("./user");

async function register(req, res) {
  // ok: mass-assignment
  const user = await User.create({ name: req.body.name, mail: req.body.mail });
  res.json({ id: user.id });
}

async function change(req, res) {
  const { name } = req.body;
  // ok: mass-assignment
  await User.findByIdAndUpdate(req.params.id, { name });
  res.end();
}
