const { execSync } = require('child_process');
function t(src) { p(src); function p(arg) { sink(arg); } }
function sink(o) { execSync(o); } // want command
t("x");
