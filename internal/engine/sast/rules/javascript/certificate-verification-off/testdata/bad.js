const https = require("https");

// ruleid: certificate-verification-off
const agent = new https.Agent({ rejectUnauthorized: false });

// ruleid: certificate-verification-off
const named = new https.Agent({ checkServerIdentity: () => undefined });
