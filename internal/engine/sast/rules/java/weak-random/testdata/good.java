import java.security.SecureRandom;

class Tokens {
    int token() {
        // ok: weak-random
        return new SecureRandom().nextInt();
    }
}
