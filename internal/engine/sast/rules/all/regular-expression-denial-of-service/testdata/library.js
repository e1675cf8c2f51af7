const FLOAT = /^\s*-?(\d*\.?\d+|\d+\.?\d*)(e[-+]?\d+)?\s*$/i;

const tags = {
  matcher: /<\/?([a-zA-Z0-9]+)*(.*?)\/?>/g,
  strip(html) {
    // ruleid: regular-expression-denial-of-service-library
    return html.replace(tags.matcher, "");
  },
};

function isFloat(text) {
  // ruleid: regular-expression-denial-of-service-library-polynomial
  return FLOAT.test(text);
}

function matches(expression, text) {
  // ruleid: regular-expression-denial-of-service-library
  return expression.test(text);
}

// The same expression is the same flaw: it is reported at the first of its uses.
const again = (text) => text.split(FLOAT);

exports.again = again;
exports.tags = tags;
exports.read = (text) => (isFloat(text) ? parseFloat(text) : text);
exports.path = (text) => matches(/^(\/?[^\/]+)+\.js$/, text);
