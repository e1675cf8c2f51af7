const { exec } = require("child_process");

// Callers get objects from the function that the module exports.
function Printer(queue, options) {
  this.queue = queue;
  this.copies = Number(options.copies);
}

Printer.prototype.command = function () {
  return "lpr -P " + this.queue;
};

Printer.prototype.print = function (done) {
  exec(this.command(), done); // want command
};

Printer.prototype.test = function (done) {
  exec("lpr -# " + this.copies, done);
};

module.exports = function (queue, options) {
  return new Printer(queue, options || {});
};
