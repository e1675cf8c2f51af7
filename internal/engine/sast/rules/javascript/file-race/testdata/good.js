const fs = require("fs");

function begin(path) {
  // ok: file-race
  fs.writeFileSync(path, "first", { flag: "wx" });
}
