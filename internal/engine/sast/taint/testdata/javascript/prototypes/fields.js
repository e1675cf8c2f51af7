const cp = require('child_process');

// What one method keeps, another one uses.
function Queue(name) {
  this.name = name;
  this.extra = {};
}
Queue.prototype.add = function (x) {
  this.extra.x = x;
};
Queue.prototype.start = function () {
  cp.exec('start ' + this.name); // want command
};
Queue.prototype.stop = function () {
  cp.exec('stop ' + this.extra.x); // want command
};

// The same, written as one object.
function Job(name) {
  this.name = name;
  this.fixed = 'job';
}
Job.prototype = {
  start: function () {
    cp.exec('start ' + this.name); // want command
  },
  stop: function () {
    cp.exec('stop ' + this.fixed);
  },
};

module.exports = { Queue, Job };
