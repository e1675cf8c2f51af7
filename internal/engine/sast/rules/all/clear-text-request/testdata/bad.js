const fs = require("fs");
const http = require("http");
const url = require("url");
const request = require("request");
const Download = require("download");
const { exec } = require("child_process");

const MIRROR = "http://mirror.tools.org/releases/";
const version = process.env.npm_package_version;

function driver(done) {
  // ruleid: clear-text-request
  http.get(MIRROR + version + "/driver.zip", (response) => {
    response.pipe(fs.createWriteStream("driver.zip")).on("close", done);
  });
}

function fetch(address, file) {
  const options = url.parse(address);
  options.headers = { "User-Agent": "driver" };
  // ruleid: clear-text-request
  http.get(options, (response) => response.pipe(fs.createWriteStream(file)));
}
fetch("http://cdn.tools.org/a.exe", "a.exe");

// ruleid: clear-text-request
request("http://cdn.tools.org/" + version + "/tool.tgz").pipe(fs.createWriteStream("tool.tgz"));

// ruleid: clear-text-request-options
http.get({ host: "cdn.tools.org", path: "/tool.tgz" }, (response) => response.pipe(fs.createWriteStream("tool.tgz")));

// ruleid: clear-text-request
new Download({ extract: true }).get("http://cdn.tools.org/lib.zip").dest("lib").run();

// ruleid: clear-text-request-command
exec("curl -sL http://cdn.tools.org/install.sh | sh");

driver(() => {});
