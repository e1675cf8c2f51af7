const cp = require('child_process');
exports.go = (v) => cp.exec(v); // want command
module.exports.Klass = class {
  constructor(v) { this.v = v; }
  go() { cp.exec(this.v); } // want command
};
module.exports.again = function (v) { cp.exec(v); }; // want command
