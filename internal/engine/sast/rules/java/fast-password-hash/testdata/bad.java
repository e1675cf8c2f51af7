import java.security.MessageDigest;
import org.springframework.security.crypto.password.*;

class Users {
    byte[] stored(String password) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        // ruleid: fast-password-hash
        return digest.digest(password.getBytes("UTF-8"));
    }

    PasswordEncoder encoder() {
        // ruleid: fast-password-hash
        return NoOpPasswordEncoder.getInstance();
    }
}
