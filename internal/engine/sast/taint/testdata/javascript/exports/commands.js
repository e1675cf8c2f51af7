const cp = require('child_process');
function helper(x) { cp.exec(x); } // want command
function run(a, cb) { helper('ls ' + a); }
const arrow = (q) => { cp.exec(q) }; // want command
class K { go(z) { cp.exec(z); } } // want command
module.exports = { run, arrow, K, inner(y) { cp.exec(y) } }; // want command
exports.other = function (w) { cp.exec(w) }; // want command
