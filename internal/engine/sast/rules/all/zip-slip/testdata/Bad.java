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

    void other(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry = zip.getNextEntry();
        File file = new File(folder, entry.getName());
        File tried = new File(folder, "a");
        if (!tried.getCanonicalPath().startsWith(folder.getCanonicalPath())) {
            throw new IOException("outside");
        }
        // ruleid: zip-slip
        new FileOutputStream(file);
    }
}
