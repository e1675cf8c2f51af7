const fs = require("fs");

function share(path) {
  // ok: permissive-file-mode
  fs.chmodSync(path, 0o750);
}
