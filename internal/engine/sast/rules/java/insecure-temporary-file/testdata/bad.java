import java.io.*;

class Report {
    OutputStream open() throws IOException {
        // ruleid: insecure-temporary-file
        return new FileOutputStream("/tmp/report.txt");
    }
}
