const fs = require("fs");
const path = require("path");
const AdmZip = require("adm-zip");
const unzipper = require("unzipper");

function unpack(file, to) {
  for (const entry of new AdmZip(file).getEntries()) {
    // ruleid: zip-slip
    fs.writeFileSync(path.join(to, entry.entryName), entry.getData());
    // ok: zip-slip
    fs.writeFileSync(path.join(to, path.basename(entry.entryName)), "");
  }
}

function stream(file, to) {
  fs.createReadStream(file).pipe(unzipper.Parse()).on("entry", (entry) => {
    // ruleid: zip-slip
    entry.pipe(fs.createWriteStream(to + "/" + entry.path));
  });
}

unpack("a.zip", "out");
stream("b.zip", "out");
