import java.io.*;
import java.util.zip.*;

class Bad {
    void unpack(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry;
        while ((entry = zip.getNextEntry()) != null) {
            // ruleid: zip-slip
            new FileOutputStream(new File(folder, entry.getName()));
        }
    }
}
