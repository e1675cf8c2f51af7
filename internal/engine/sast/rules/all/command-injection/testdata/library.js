const { exec } = require("child_process");

// What the object was made with is still what the caller chose, with all of its parts.
class Scanner {
  constructor(options) {
    this.options = options;
    this.fixed = "/usr/bin/scan";
  }

  scan(done) {
    // ruleid: command-injection-library
    exec("scan " + this.options.path, done);
  }

  version(done) {
    exec(this.fixed + " --version", done);
  }
}

module.exports = Scanner;

// What a program sets up once, for all calls, is its own choice.
let shell = "/bin/sh";

module.exports.setup = function (options) {
  shell = options.shell;
};

module.exports.start = function (done) {
  exec(shell + " -i", done);
};

// What one call leaves there for itself is not.
let asked;

function ask(done) {
  // ruleid: command-injection-library
  exec("ask " + asked, done);
}

module.exports.ask = function (name, done) {
  asked = name;
  ask(done);
};
