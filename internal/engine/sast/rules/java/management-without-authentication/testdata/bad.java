class Main {
    public static void main(String[] args) {
        // ruleid: management-without-authentication
        System.setProperty("com.sun.management.jmxremote.authenticate", "false");
    }
}
