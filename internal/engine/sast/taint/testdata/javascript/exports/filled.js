// The module is given to the function that fills it, as bundlers write it.
(function (global, factory) {
  typeof exports === 'object' && typeof module !== 'undefined' ? factory(exports) : factory(global.filled = {});
})(this, function (exports) {
  const cp = require('child_process');
  function hidden(x) { cp.exec(x); }
  function shown(y) { cp.exec(y); } // want command
  exports.shown = shown;
  exports.version = () => hidden('version');
});
