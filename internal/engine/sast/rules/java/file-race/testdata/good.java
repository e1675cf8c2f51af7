import java.io.IOException;
import java.nio.file.*;

class Begin {
    void begin(Path file) throws IOException {
        // ok: file-race
        Files.write(file, new byte[] {1}, StandardOpenOption.CREATE_NEW);
    }
}
