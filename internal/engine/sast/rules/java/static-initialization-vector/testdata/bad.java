import javax.crypto.spec.IvParameterSpec;

class Box {
    // ruleid: static-initialization-vector
    IvParameterSpec iv = new IvParameterSpec("0123456789abcdef".getBytes());
}
