// ruleid: regular-expression-denial-of-service-unknown
exports.words = /^(\w+\s?)*$/;
// ruleid: regular-expression-denial-of-service-unknown
const spelled = new RegExp("^(([a-z])+.)+[A-Z]([a-z])+$");
// ok: regular-expression-denial-of-service-unknown
exports.name = /^\w+(?:\s\w+)*$/;
// ok: regular-expression-denial-of-service-unknown
exports.text = "^(a+)+$";

module.exports.spelled = spelled;
