package org.acme.unpack;

import com.github.junrar.Archive;
import com.github.junrar.rarfile.FileHeader;
import java.io.File;
import java.io.FileOutputStream;
import org.apache.commons.compress.archivers.sevenz.SevenZArchiveEntry;
import org.apache.commons.compress.archivers.sevenz.SevenZFile;

class Libraries {
  void rar(Archive archive, File dir) throws Exception {
    FileHeader header = archive.nextFileHeader();
    // ruleid: zip-slip
    new FileOutputStream(new File(dir, header.getFileName()));
  }

  void seven(SevenZFile archive, File dir) throws Exception {
    SevenZArchiveEntry entry = archive.getNextEntry();
    // ruleid: zip-slip
    new FileOutputStream(new File(dir, entry.getName()));
  }

  void checked(SevenZFile archive, File dir) throws Exception {
    SevenZArchiveEntry entry = archive.getNextEntry();
    File file = new File(dir, entry.getName());
    if (!file.getCanonicalPath().startsWith(dir.getCanonicalPath() + File.separator)) {
      throw new SecurityException("entry leads out of the folder");
    }
    // ok: zip-slip
    new FileOutputStream(file);
  }
}
