const multer = require("multer");

// ruleid: unrestricted-upload
const upload = multer({ dest: "public/pictures" });
