import java.security.MessageDigest;

class Sums {
    byte[] sum(byte[] data) throws Exception {
        String algorithm = "MD5";
        // ruleid: weak-hash
        return MessageDigest.getInstance(algorithm).digest(data);
    }
}
