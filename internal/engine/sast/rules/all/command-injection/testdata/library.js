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
