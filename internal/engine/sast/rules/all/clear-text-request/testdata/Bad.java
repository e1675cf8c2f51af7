import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Paths;

class Bad {
  void driver(String version) throws Exception {
    URL address = new URL("http://mirror.tools.org/releases/" + version + "/driver.zip");
    // ruleid: clear-text-request
    try (InputStream in = address.openStream()) {
      Files.copy(in, Paths.get("driver.zip"));
    }
  }
}
