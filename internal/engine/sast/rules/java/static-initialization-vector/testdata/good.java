import java.security.SecureRandom;
import javax.crypto.spec.IvParameterSpec;

class Box {
    IvParameterSpec iv() {
        byte[] b = new byte[16];
        new SecureRandom().nextBytes(b);
        // ok: static-initialization-vector
        return new IvParameterSpec(b);
    }
}
