import java.io.File;
import java.io.IOException;
import org.springframework.web.multipart.MultipartFile;

class Upload {
    void keep(MultipartFile file, File folder) throws IOException {
        // ruleid: unrestricted-upload
        file.transferTo(new File(folder, new File(file.getOriginalFilename()).getName()));
    }
}
