import java.security.*;

class Keys {
    KeyPair fresh() throws NoSuchAlgorithmException {
        KeyPairGenerator maker = KeyPairGenerator.getInstance("RSA");
        // ruleid: short-key
        maker.initialize(1024);
        return maker.generateKeyPair();
    }
}
