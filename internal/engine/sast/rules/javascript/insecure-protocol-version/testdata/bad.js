const https = require("https");

// ruleid: insecure-protocol-version
const agent = new https.Agent({ minVersion: "TLSv1" });
