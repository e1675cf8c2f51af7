import com.jcraft.jsch.*;

class Remote {
    Session open(JSch jsch) throws JSchException {
        jsch.setKnownHosts("/etc/shop/known_hosts");
        Session session = jsch.getSession("backup", "store.example");
        // ok: host-key-check-off
        session.setConfig("StrictHostKeyChecking", "yes");
        return session;
    }
}
