import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ok: triple-des
        return Cipher.getInstance("AES/GCM/NoPadding");
    }
}
