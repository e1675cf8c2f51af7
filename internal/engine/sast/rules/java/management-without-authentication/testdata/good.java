class Main {
    public static void main(String[] args) {
        // ok: management-without-authentication
        System.setProperty("com.sun.management.jmxremote.authenticate", "true");
    }
}
