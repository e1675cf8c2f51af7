package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file closes the file tree, TCP and signals with Landlock (landlock(7)):
// what no rule allows is refused. It uses the three system calls themselves and
// changes the calling thread only; docs/decisions says why no library does it.

const (
	readRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execRights  = readRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_REFER

	// fileRights are those that a rule for a file may have.
	fileRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// restrictFiles enforces the grants, as far as the kernel's version can.
func (s *stage) restrictFiles(program int) {
	version, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		s.addWarning("no Landlock (%v): files are closed only by the namespace and the user", errno)
		return
	}
	attr, missing := newRuleset(int(version))
	if missing != "" {
		s.addWarning("Landlock of version %d: %s", version, missing)
	}
	if err := s.enforceLandlock(attr, program); err != nil {
		s.addWarning("no Landlock: %v", err)
	}
}

// newRuleset returns everything that the version of Landlock can refuse, and what it
// cannot in words.
func newRuleset(version int) (attr unix.LandlockRulesetAttr, missing string) {
	attr.Handled_access_fs = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	} else {
		missing = "truncating is not refused"
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	} else if missing == "" {
		missing = "signals to other processes of the user are not refused"
	}
	return attr, missing
}

// enforceLandlock makes the rules and puts the thread under them.
func (s *stage) enforceLandlock(attr unix.LandlockRulesetAttr, program int) error {
	fd, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules: %w", errno)
	}
	defer func() { _ = unix.Close(int(fd)) }() // holds nothing
	rules := ruleSet{fd: int(fd), handled: attr.Handled_access_fs}
	if err := rules.allowOpen(program, execRights); err != nil {
		return fmt.Errorf("allow the program: %w", err)
	}
	for _, path := range system {
		if err := rules.allowPath(path, execRights); err != nil && err != unix.ENOENT {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	for _, path := range devices {
		if err := rules.allowPath(path, readRights|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil &&
			err != unix.ENOENT {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	if s.Family != nil {
		if err := rules.allowFamily(s.Family, attr.Handled_access_net); err != nil {
			return err
		}
	}
	if err := rules.allowPath(fmt.Sprintf("/proc/%d", unix.Getpid()), readRights); err != nil {
		if err := rules.allowPath("/proc/self", readRights); err != nil && err != unix.ENOENT {
			return fmt.Errorf("allow /proc/self: %w", err)
		}
	}
	for _, g := range s.Files {
		rights := uint64(readRights)
		if g.Write {
			rights = writeRights
		}
		if g.Exec {
			rights = execRights
		}
		if err := rules.allowPath(g.Path, rights); err != nil {
			return fmt.Errorf("allow %s: %w", g.Path, err)
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("enforce the rules: %w", errno)
	}
	return nil
}

// A ruleSet is a set of rules that is being made.
type ruleSet struct {
	fd      int
	handled uint64
}

// allowPath grants the rights on a path and everything below it.
func (r ruleSet) allowPath(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // was only named
	return r.allowOpen(fd, rights)
}

// allowOpen allows the rights on what is open, and below it when it is a folder.
func (r ruleSet) allowOpen(fd int, rights uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
