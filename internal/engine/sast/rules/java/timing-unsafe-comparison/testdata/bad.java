import java.util.Arrays;
import javax.crypto.Mac;

class Signed {
    boolean genuine(Mac mac, byte[] text, byte[] signature) {
        byte[] sum = mac.doFinal(text);
        // ruleid: timing-unsafe-comparison
        return Arrays.equals(sum, signature);
    }
}
