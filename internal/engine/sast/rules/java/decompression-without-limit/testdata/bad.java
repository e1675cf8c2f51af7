import java.io.*;
import java.util.zip.*;

class Unpack {
    byte[] text(InputStream in) throws IOException {
        GZIPInputStream unpacked = new GZIPInputStream(in);
        // ruleid: decompression-without-limit
        return unpacked.readAllBytes();
    }
}
