const fs = require("fs");
const http = require("http");
const https = require("https");
const request = require("request");
const { exec } = require("child_process");

const NAMESPACE = "http://www.w3.org/2000/svg";

module.exports = function (document, base) {
  // ok: clear-text-request
  https.get("https://cdn.tools.org/driver.zip", (response) => response.pipe(fs.createWriteStream("driver.zip")));
  // ok: clear-text-request
  http.get("http://localhost:8080/health", () => {});
  // ok: clear-text-request
  http.get("http://127.0.0.1:9200/_cat", () => {});
  // ok: clear-text-request
  request("http://registry.internal/pkg");
  // ok: clear-text-request-options
  https.get({ host: "cdn.tools.org", path: "/tool.tgz" }, () => {});
  // ok: clear-text-request
  const svg = document.createElementNS(NAMESPACE, "svg");
  // ok: clear-text-request-command
  exec("curl -sL https://cdn.tools.org/install.sh -o install.sh");
  return svg;
};
