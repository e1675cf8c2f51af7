// With an encoding a number is refused.
exports.encode = function (value) {
  // ok: uninitialized-buffer
  return new Buffer(value, "utf8").toString("base64");
};

exports.from = function (value) {
  // ok: uninitialized-buffer
  return Buffer.from(value).toString("base64");
};

// A text is no size.
exports.pair = function (user, password) {
  // ok: uninitialized-buffer
  return new Buffer(user + ":" + password).toString("base64");
};

exports.text = function (value) {
  // ok: uninitialized-buffer
  const a = new Buffer(String(value));
  // ok: uninitialized-buffer
  const b = new Buffer(value.toString());
  // ok: uninitialized-buffer
  const c = new Buffer(JSON.stringify(value));
  return [a, b, c];
};

exports.checked = function (value) {
  if (typeof value !== "string") {
    throw new TypeError("not a text");
  }
  // ok: uninitialized-buffer
  return new Buffer(value);
};

exports.number = function (value) {
  if (typeof value === "number") {
    value = value.toString();
  }
  // ok: uninitialized-buffer
  return new Buffer(value);
};

// The size of what is there already is not chosen by anybody.
exports.copy = function (data) {
  // ok: uninitialized-buffer
  const b = new Buffer(data.length);
  // ok: uninitialized-buffer
  const c = new Buffer(data.length * 2 + 4);
  data.copy(b);
  return [b, c];
};

exports.list = function () {
  // ok: uninitialized-buffer
  return new Buffer([1, 2, 3]);
};
