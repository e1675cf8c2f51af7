const fs = require("fs");

const LINE = /^(\w+\s?)*$/;
const table = { string: /"(?:[^"\\]+|\\.)*"/, name: /^\w+$/ };

function lines(file) {
  const text = fs.readFileSync(file, "utf8");
  // ruleid: regular-expression-denial-of-service-unknown
  return text.split("\n").filter((line) => LINE.test(line));
}

function first(name) {
  const text = fs.readFileSync("grammar.txt", "utf8");
  // ruleid: regular-expression-denial-of-service-unknown
  return text.match(table.string);
}

console.log(lines("a.txt"), first("name"));
