const fs = require("fs");

function begin(path) {
  // ruleid: file-race
  if (!fs.existsSync(path)) {
    fs.writeFileSync(path, "first");
  }
}
