const Database = require("better-sqlite3");
const knex = require("knex")({ client: "pg" });
const keys = require("keypather")();

// What a library made at the top of a file is known in its functions.
const file = new Database("app.db");
let other = new Database("other.db");
other = { exec: (text) => text.length };

exports.clear = function (table) {
  file.exec("DELETE FROM " + table); // want sql
  other.exec("DELETE FROM " + table);
};

exports.count = function (table) {
  return knex.raw("SELECT count(*) FROM " + table); // want sql
};

exports.put = function (object, key, value) {
  keys.set(object, key, value); // want prototype
  keys.set(object, "name", value);
};
