const fs = require("fs");
const path = require("path");

// Who gives a whole path means that file.
exports.load = function (file, done) {
  fs.readFile(file, done);
};

exports.page = function (root, name, done) {
  // ruleid: path-traversal-library-below
  fs.readFile(path.join(root, name), done);
};

exports.theme = function (name) {
  const file = "themes/" + name + ".css";
  // A question is no flaw of its own.
  if (!fs.existsSync(file)) return "";
  // ruleid: path-traversal-library-below
  return fs.readFileSync(file, "utf8");
};

exports.safe = function (root, name, done) {
  fs.readFile(path.join(root, path.basename(name)), done);
};

// Whoever asks learns only whether a file is there.
exports.has = (name) => fs.existsSync("themes/" + name);

// What a caller gives is checked once, where it comes in.
exports.move = function (name, done) {
  // ruleid: path-traversal-library-below
  const text = fs.readFileSync("themes/" + name, "utf8");
  fs.writeFile("old/" + name, text, done);
};
