const router = require('express').Router();
const pages = require('./pages');
function check(req, res, next) { next(); }
module.exports = function () {
  router.get('/ping', pages.ping);
  router.get('/list', [check, pages.list], pages.last);
  return router;
};
