const https = require("https");

// ok: certificate-verification-off
const agent = new https.Agent({ ca: authority });
