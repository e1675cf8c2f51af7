import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ok: ecb-mode
        return Cipher.getInstance("AES/GCM/NoPadding");
    }
}
