import java.io.*;

class Begin {
    void begin(File file) throws IOException {
        // ruleid: file-race
        if (!file.exists()) {
            FileOutputStream out = new FileOutputStream(file);
            out.write(1);
        }
    }
}
