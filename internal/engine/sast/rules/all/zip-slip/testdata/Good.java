import java.io.*;
import java.util.zip.*;

class Good {
    void unpack(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry;
        int n = 0;
        while ((entry = zip.getNextEntry()) != null) {
            new FileOutputStream(new File(folder, "entry" + n++));
        }
    }
}
