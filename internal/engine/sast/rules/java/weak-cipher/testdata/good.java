import javax.crypto.Cipher;

class Box {
    Cipher make() throws Exception {
        // ok: weak-cipher
        return Cipher.getInstance("AES/GCM/NoPadding");
    }
}
