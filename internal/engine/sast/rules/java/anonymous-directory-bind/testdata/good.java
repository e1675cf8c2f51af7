import java.util.Hashtable;
import javax.naming.Context;

class Directory {
    Hashtable<String, String> settings(String name, String password) {
        Hashtable<String, String> env = new Hashtable<>();
        // ok: anonymous-directory-bind
        env.put(Context.SECURITY_AUTHENTICATION, "simple");
        env.put(Context.SECURITY_PRINCIPAL, name);
        env.put(Context.SECURITY_CREDENTIALS, password);
        return env;
    }
}
