import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ruleid: triple-des
        return Cipher.getInstance("DESede/CBC/PKCS5Padding");
    }
}
