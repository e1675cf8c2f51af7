const fs = require("fs");

function begin(path) {
  // ruleid: file-race
  fs.exists(path, (there) => {
    if (!there) {
      fs.writeFileSync(path, "first");
    }
  });
}

function more(path, text) {
  // ruleid: file-race
  fs.access(path, fs.constants.W_OK, (err) => {
    fs.appendFileSync(path, text);
  });
}
