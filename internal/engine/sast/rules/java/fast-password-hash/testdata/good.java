import java.security.MessageDigest;
import org.springframework.security.crypto.bcrypt.*;

class Users {
    String stored(String password) {
        // ok: fast-password-hash
        return new BCryptPasswordEncoder(12).encode(password);
    }

    byte[] sum(String text) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        // ok: fast-password-hash
        return digest.digest(text.getBytes("UTF-8"));
    }
}
