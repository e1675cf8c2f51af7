import java.security.*;

class Keys {
    KeyPair fresh() throws NoSuchAlgorithmException {
        KeyPairGenerator maker = KeyPairGenerator.getInstance("RSA");
        // ok: short-key
        maker.initialize(3072);
        return maker.generateKeyPair();
    }

    KeyPair curve() throws NoSuchAlgorithmException {
        KeyPairGenerator maker = KeyPairGenerator.getInstance("EC");
        // ok: short-key
        maker.initialize(256);
        return maker.generateKeyPair();
    }
}
