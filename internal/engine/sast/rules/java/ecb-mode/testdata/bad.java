import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ruleid: ecb-mode
        return Cipher.getInstance("AES/ECB/PKCS5Padding");
    }
}
