const { exec } = require("child_process");

// A function that returns a constructor, which a variable holds.
module.exports = function (session) {
  const Store = function (options) {
    this.table = options.table;
    this.size = 10;
  };
  Store.prototype.query = function (statement) { exec(statement); }; // want command
  Store.prototype.clear = function () { exec("sql 'DELETE FROM " + this.table + "'"); }; // want command
  Store.prototype.limit = function () { exec("sql 'LIMIT " + this.size + "'"); };
  return Store;
};
