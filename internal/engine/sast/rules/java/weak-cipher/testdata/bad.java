import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ruleid: weak-cipher
        return Cipher.getInstance("DES/CBC/PKCS5Padding");
    }
}
