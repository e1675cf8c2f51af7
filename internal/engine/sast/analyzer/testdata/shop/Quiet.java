import java.security.SecureRandom;

class Quiet {
    double draw() {
        return new SecureRandom().nextDouble();
    }
}
