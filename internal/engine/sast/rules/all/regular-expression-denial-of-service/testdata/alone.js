// ruleid: regular-expression-denial-of-service-unknown
exports.words = /^(\w+\s?)*$/;
// ruleid: regular-expression-denial-of-service-unknown
const spelled = new RegExp("^(([a-z])+.)+[A-Z]([a-z])+$");
// ok: regular-expression-denial-of-service-unknown
exports.name = /^\w+(?:\s\w+)*$/;
// ok: regular-expression-denial-of-service-unknown
exports.text = "^(a+)+$";

// Whoever reads a table decides what is matched.
exports.grammar = {
  // ok: regular-expression-denial-of-service-unknown
  words: /^(\w+\s?)*$/,
  // ok: regular-expression-denial-of-service-unknown
  others: [/^(\d+\s?)*$/],
};

module.exports.spelled = spelled;
