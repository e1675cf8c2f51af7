exports.encode = function (value) {
  // ruleid: uninitialized-buffer
  return new Buffer(value).toString("base64");
};

exports.bytes = function (value) {
  // ruleid: uninitialized-buffer
  return Buffer.isBuffer(value) ? value : new Buffer(value);
};

class Client {
  constructor(options) {
    this.key = options.key;
  }

  header() {
    // ruleid: uninitialized-buffer
    return "Basic " + new Buffer(this.key).toString("base64");
  }
}

exports.Client = Client;
