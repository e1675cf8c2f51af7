import java.io.File;
import java.nio.file.attribute.*;
import java.util.Set;

class Share {
    boolean open(File file) {
        // ruleid: permissive-file-mode
        return file.setWritable(true, false);
    }

    Set<PosixFilePermission> rights() {
        // ruleid: permissive-file-mode
        return PosixFilePermissions.fromString("rwxrwxrwx");
    }
}
