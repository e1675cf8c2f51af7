import java.io.File;
import java.io.IOException;
import java.util.UUID;
import org.springframework.web.multipart.MultipartFile;

class Upload {
    void keep(MultipartFile file, File folder) throws IOException {
        if (!"image/png".equals(file.getContentType())) {
            throw new IllegalArgumentException("a picture, please");
        }
        // ok: unrestricted-upload
        file.transferTo(new File(folder, UUID.randomUUID() + ".png"));
    }
}
