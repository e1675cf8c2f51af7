import java.io.File;
import java.nio.file.attribute.*;
import java.util.Set;

class Share {
    boolean open(File file) {
        // ok: permissive-file-mode
        return file.setWritable(true, true);
    }

    Set<PosixFilePermission> rights() {
        // ok: permissive-file-mode
        return PosixFilePermissions.fromString("rwxr-x---");
    }
}
