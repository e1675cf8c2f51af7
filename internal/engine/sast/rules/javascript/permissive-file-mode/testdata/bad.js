const fs = require("fs");

function share(path) {
  // ruleid: permissive-file-mode
  fs.chmodSync(path, 0o777);
}

function again(path, done) {
  // ruleid: permissive-file-mode
  fs.chmod(path, "666", done);
}
