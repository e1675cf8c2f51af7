const { exec } = require('child_process');
module.exports.ping = function (req, res) {
  exec('ping ' + req.query.host); // want command
};
exports.list = (req, res, next) => {
  exec('ls ' + req.body.dir); // want command
};
exports.last = async (req, res) => {
  exec('tail ' + req.params.file); // want command
  res.send('done');
};
