import java.util.Hashtable;
import javax.naming.Context;

class Directory {
    Hashtable<String, String> settings() {
        Hashtable<String, String> env = new Hashtable<>();
        // ruleid: anonymous-directory-bind
        env.put(Context.SECURITY_AUTHENTICATION, "none");
        return env;
    }
}
