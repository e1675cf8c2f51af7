const https = require("https");

// ok: insecure-protocol-version
const agent = new https.Agent({ minVersion: "TLSv1.2" });
