const parseurl = require("parseurl");
const url = require("url");

module.exports = function () {
  return function (req, res, next) {
    const address = parseurl.original(req);
    address.pathname += "/";
    // ruleid: open-redirect
    res.setHeader("Location", url.format(address));
    // ok: open-redirect
    res.setHeader("Location", "/start");
    res.end();
  };
};
