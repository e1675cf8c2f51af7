import java.util.Random;

class Sums {
    double draw() {
        return new Random().nextDouble(); // want "weak-random"
    }
}
