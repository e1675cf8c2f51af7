import com.jcraft.jsch.*;

class Remote {
    Session open(JSch jsch) throws JSchException {
        Session session = jsch.getSession("backup", "store.example");
        // ruleid: host-key-check-off
        session.setConfig("StrictHostKeyChecking", "no");
        return session;
    }
}
