import java.io.*;
import java.util.zip.*;

class Unpack {
    byte[] text(InputStream in) throws IOException {
        GZIPInputStream unpacked = new GZIPInputStream(in);
        // ok: decompression-without-limit
        return unpacked.readNBytes(1 << 20);
    }
}
