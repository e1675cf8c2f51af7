import java.util.Random;

class Tokens {
    int token() {
        // ruleid: weak-random
        return new Random().nextInt();
    }

    double other() {
        // ruleid: weak-random
        return Math.random();
    }
}
