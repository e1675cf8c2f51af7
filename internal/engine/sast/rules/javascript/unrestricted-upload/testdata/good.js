const multer = require("multer");

// ok: unrestricted-upload
const upload = multer({
  dest: "pictures",
  fileFilter: (req, file, done) => done(null, /^image[/](png|jpeg)$/.test(file.mimetype)),
});
