const { execSync } = require("child_process");

// Nobody outside gets a Worker: what it is made with is the program's own.
function Worker(folder) { this.folder = folder; }
Worker.prototype.path = function () { return this.folder; };
Worker.prototype.start = function () { execSync("ls " + this.path()); };

exports.version = function () {
  new Worker("/var/lib/work").start();
  return 1;
};
