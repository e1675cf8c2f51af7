import java.io.*;
import java.nio.file.*;
import java.util.zip.*;

class Good {
    void unpack(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry;
        int n = 0;
        while ((entry = zip.getNextEntry()) != null) {
            new FileOutputStream(new File(folder, "entry" + n++));
        }
    }

    void checked(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry = zip.getNextEntry();
        File file = new File(folder, entry.getName());
        if (!file.toPath().normalize().startsWith(folder.toPath().normalize())) {
            throw new IOException("outside");
        }
        file.getParentFile().mkdirs();
        new FileOutputStream(file);
    }

    void canonical(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry = zip.getNextEntry();
        File file = new File(folder, entry.getName());
        String path = file.getCanonicalPath();
        if (!path.startsWith(folder.getCanonicalPath() + File.separator)) {
            throw new IOException("outside");
        }
        new FileOutputStream(file);
    }

    void all(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry;
        while ((entry = zip.getNextEntry()) != null) {
            File file = new File(folder, entry.getName());
            if (!file.toPath().normalize().startsWith(folder.toPath())) {
                throw new IOException("outside");
            }
            if (!file.exists()) {
                file.mkdirs();
            }
        }
    }

    void tried(ZipInputStream zip, File folder) {
        try {
            ZipEntry entry = zip.getNextEntry();
            final File file = new File(folder, entry.getName());
            if (!file.toPath().normalize().startsWith(folder.toPath().normalize())) {
                throw new IOException("outside");
            }
            new FileOutputStream(file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } finally {
            close(zip);
        }
    }

    void resolved(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry = zip.getNextEntry();
        Path file = folder.resolve(entry.getName());
        if (!file.normalize().startsWith(folder)) {
            throw new IOException("outside");
        }
        Files.copy(zip, file.normalize());
    }
}
