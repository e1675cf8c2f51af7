import java.security.MessageDigest;

class Sums {
    byte[] sum(byte[] data) throws Exception {
        // ok: weak-hash
        return MessageDigest.getInstance("SHA-256").digest(data);
    }
}
