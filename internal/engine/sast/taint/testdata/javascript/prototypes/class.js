const cp = require('child_process');

// A class as compilers write it.
var Repository = (function () {
  function Repository(path) {
    this.path = path;
  }
  Repository.prototype.show = function (name) {
    cp.exec('show ' + name); // want command
  };
  return Repository;
})();
exports.Repository = Repository;

// What an object has from its maker's prototype.
exports.run = function (name) {
  function Task() {}
  Task.prototype.start = function (x) {
    cp.exec(x); // want command
  };
  new Task().start('start ' + name);
};

// A factory, whose functions are the interface.
exports.make = function () {
  return {
    stop(name) {
      cp.exec('stop ' + name); // want command
    },
  };
};

// A module that exports from within a function.
(function (root, factory) {
  if (typeof module === 'object') module.exports.wrapped = factory();
  else root.wrapped = factory();
})(this, function () {
  function exec(x) {
    return x;
  }
  return function (name) {
    exec(name);
    cp.execSync('kill ' + name); // want command
  };
});

// What it was called with.
exports.any = function () {
  cp.exec(arguments[1]); // want command
};

exports.all = function () {
  exports.any.apply(null, arguments);
};

exports.again = function again(x, n) {
  if (n > 0) return again('echo ' + x, n - 1);
  cp.exec(x); // want command
};
