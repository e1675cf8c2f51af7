const { promisify } = require('util');
const run = promisify(require('child_process').exec);

exports.list = async function (name) {
  await run('ls ' + name); // want command
};

exports.count = (name) => run(name).then(() => 1); // want command
