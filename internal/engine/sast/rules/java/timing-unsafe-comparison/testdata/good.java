import java.security.MessageDigest;
import javax.crypto.Mac;

class Signed {
    boolean genuine(Mac mac, byte[] text, byte[] signature) {
        byte[] sum = mac.doFinal(text);
        // ok: timing-unsafe-comparison
        return MessageDigest.isEqual(sum, signature);
    }
}
