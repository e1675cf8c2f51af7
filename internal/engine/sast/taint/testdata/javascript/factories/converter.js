const { execSync } = require("child_process");

// The methods are in one object; nothing in the program makes a converter.
function Converter(input) {
  this.input = input;
  this.format = "png";
}

Converter.prototype = {
  source: function () { return '"' + this.input + '"'; },
  target: function () { return this.format; },
  run: function () {
    const call = this.source();
    return new Promise((resolve) => {
      resolve(execSync("convert " + call)); // want command
    });
  },
  list: function () { return execSync("convert -list " + this.target()); },
};

exports.Converter = Converter;
