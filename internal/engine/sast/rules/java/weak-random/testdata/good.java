import java.security.SecureRandom;
import org.apache.commons.lang3.RandomStringUtils;

class Tokens {
    int token() {
        // ok: weak-random
        return new SecureRandom().nextInt();
    }

    String salt() {
        // ok: weak-random
        return RandomStringUtils.random(20, 0, 0, true, true, null, new SecureRandom());
    }

    String key() {
        // ok: weak-random
        return RandomStringUtils.secureStrong().nextAlphanumeric(20);
    }
}
