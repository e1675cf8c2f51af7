package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is what programs need that start others: a loopback with one listener, which
// is handed to the parent, a folder in memory, the processes of their own namespace.

// stageCaps are the capabilities that the stage of a Family has without being root of its
// namespace: to mount, to set up the loopback, to empty the bounding set.
var stageCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// A handOver is a pair of sockets through which the stage hands its listener over. The
// listener stays in the stage's network, whoever holds it.
type handOver struct {
	ours   int
	theirs *os.File
}

// newHandOver creates a pair of sockets to pass the listener (SCM_RIGHTS, unix(7)).
func newHandOver() (handOver, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return handOver{}, err
	}
	return handOver{ends[0], os.NewFile(uintptr(ends[1]), "hand")}, nil
}

// close closes both ends.
func (h handOver) close() { _, _ = unix.Close(h.ours), h.theirs.Close() } // the talk is over

// takeListener takes the listener, which the stage has sent before it became the program.
func (h handOver) takeListener() (net.Listener, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(h.ours, make([]byte, 1), rights, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("take the listener of the sandbox: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the sandbox has handed over no listener")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the sandbox has handed over no listener")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	l, err := net.FileListener(f)
	return l, errors.Join(err, f.Close())
}

// takePipes makes the two last files the descriptors 3 and 4, on which a browser expects
// its pipes. The report goes on elsewhere.
func (s *stage) takePipes() error {
	out, err := unix.FcntlInt(4, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	old := []*os.File{s.in, s.out} // stay referred to, or they would close what takes their place
	s.out = os.NewFile(uintptr(out), "report")
	for n := range old {
		from := s.Hand + 1 + n
		if err := unix.Dup3(from, 3+n, 0); err != nil {
			return err
		}
		if err := unix.Close(from); err != nil {
			return err
		}
	}
	s.replaced = old
	return nil
}

// openLoopback sets the loopback up and hands a listener on it to the parent.
func (s *stage) openLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // the parent has it
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("open the loopback: %w", err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("open the loopback: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: s.Family.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("listen on the loopback: %w", err)
	}
	if err := unix.Listen(fd, 128); err != nil {
		return fmt.Errorf("listen on the loopback: %w", err)
	}
	if err := unix.Sendmsg(s.Hand, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
		return fmt.Errorf("hand the listener over: %w", err)
	}
	return unix.Close(s.Hand)
}

// fillFamily adds the programs, the folder in memory and the processes of the namespace
// to the tree that is being built.
func (s *stage) fillFamily() error {
	for _, path := range s.Family.Programs {
		if err := bindSystem(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll("/root"+s.Family.Scratch, 0o700); err != nil {
		return err
	}
	options := "mode=700,size=" + strconv.FormatInt(s.Family.ScratchSize, 10)
	if s.User >= 0 {
		options += fmt.Sprintf(",uid=%d,gid=%d", s.User, s.User)
	}
	if err := unix.Mount("scratch", "/root"+s.Family.Scratch, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC,
		options); err != nil {
		return fmt.Errorf("a folder in memory: %w", err)
	}
	if err := os.MkdirAll("/root/proc", 0o755); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/root/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("a /proc of its own (none where parts of this one are masked): %w", err)
	}
	return nil
}

// allowFamily adds what a Family may do to the rules.
func (r ruleSet) allowFamily(f *Family, network uint64) error {
	for _, path := range f.Programs {
		if err := r.allowPath(path, execRights); err != nil && err != unix.ENOENT {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	if err := r.allowPath(f.Scratch, r.handled); err != nil {
		return fmt.Errorf("allow %s: %w", f.Scratch, err)
	}
	// Namespaces of its own are set up by writing there.
	if err := r.allowPath("/proc",
		readRights|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE); err != nil {
		return fmt.Errorf("allow /proc: %w", err)
	}
	if network == 0 {
		return nil
	}
	const portRule = 2 // LANDLOCK_RULE_NET_PORT of linux/landlock.h
	attr := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(f.Port)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), portRule,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allow the loopback: %w", errno)
	}
	return nil
}

// Members returns the processes of the program, as this process numbers them: itself and
// all that it has started, whoever has become their parent.
func (p *Process) Members() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	members := []int{p.pid}
	for n := 0; n < len(members); n++ {
		members = append(members, children[members[n]]...)
	}
	return members
}

// parentOf reads the parent of a process out of proc_pid_stat(5). Its second field may
// hold anything, and ends with the last parenthesis.
func parentOf(pid int) (int, bool) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}
