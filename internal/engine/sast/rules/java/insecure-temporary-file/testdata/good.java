import java.io.*;
import java.nio.file.Files;

class Report {
    OutputStream open() throws IOException {
        // ok: insecure-temporary-file
        return Files.newOutputStream(Files.createTempFile("report", ".txt"));
    }
}
