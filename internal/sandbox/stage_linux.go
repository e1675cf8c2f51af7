package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is the part of the child. It runs in the new namespaces, with a
// runtime but before anything else of the program, and gives up rights until
// only those of the plan are left. Everything happens on one thread: execve ends
// the others and keeps the rights of the one that calls it, so nothing has to be
// brought to all threads, which is what breaks in programs with C parts.

// Init makes the process the program of a Spec when Start made it for that, and
// then does not return. It must be called before anything else in main, and in
// TestMain of packages whose tests call Start.
func Init() {
	if len(os.Args) < 2 || os.Args[1] != stageArg {
		return
	}
	runtime.LockOSThread()
	in, out := os.NewFile(3, "plan"), os.NewFile(4, "report")
	var p plan
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		fmt.Fprintln(os.Stderr, "merlon:", stageArg, "is for the program itself")
		os.Exit(3)
	}
	unix.CloseOnExec(4)
	s := &stage{plan: p, in: in, out: out}
	if p.Family == nil {
		_ = in.Close() // was only read
	} else if err := s.takePipes(); err != nil {
		os.Exit(3)
	}
	err := s.execProgram()
	_ = json.NewEncoder(s.out).Encode(report{Error: err.Error()}) // when nobody listens, nobody waits
	os.Exit(2)
}

// stage is the setup phase of a sandboxed process: it runs with the rights of the parent, drops
// them, and executes the program.
type stage struct {
	plan
	in, out  *os.File
	replaced []*os.File // whose descriptors are others' now
	warnings []string
	rooted   bool // sees a tree of its own
}

// addWarning records a missing protection, which the scan reports in its Config.
func (s *stage) addWarning(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// execProgram turns the process into the program. It returns only when it cannot.
func (s *stage) execProgram() error {
	// The kernel ends it first when the machine runs out of memory.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // a wish
	if err := s.dieWithParent(); err != nil {
		return err
	}
	program, err := s.openProgram()
	if err != nil {
		return err
	}
	if s.Family != nil {
		if err := s.openLoopback(); err != nil {
			return err
		}
	}
	if s.Mounts && !s.Without[layerRoot] {
		if err := s.enterRoot(); err != nil {
			return err
		}
	}
	if s.Family != nil { // it finds its files beside its name
		_ = unix.Close(program) // was only named
		if program, err = s.openProgram(); err != nil {
			return err
		}
	}
	if err := s.changeUser(); err != nil {
		return err
	}
	if err := s.dropCapabilities(); err != nil {
		return err
	}
	if err := os.Chdir(s.Dir); err != nil {
		return err
	}
	if !s.Without[layerLandlock] {
		s.restrictFiles(program)
	}
	if err := s.dieWithParent(); err != nil { // a change of user cleared it
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(append([]string{os.Args[0]}, s.Args...))
	if err != nil {
		return err
	}
	envp, err := syscall.SlicePtrFromStrings(s.Env)
	if err != nil {
		return err
	}
	if err := s.closeOthers(); err != nil {
		return err
	}
	if !s.Without[layerSeccomp] {
		if err := filterCalls(s.Family != nil); err != nil {
			if s.Family != nil {
				return fmt.Errorf("filter system calls: %w", err)
			}
			s.addWarning("system calls are not filtered: %v", err)
		}
	}
	if err := json.NewEncoder(s.out).Encode(report{Warnings: s.warnings}); err != nil {
		return err
	}
	// This is last, because the limit of memory is below what some runtimes reserve.
	if err := s.setLimits(); err != nil {
		return err
	}
	empty := []byte{0}
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])), unix.AT_EMPTY_PATH, 0)
	return fmt.Errorf("execute: %w", errno)
}

// closeOthers has the program inherit no descriptors but its own: the three standard ones,
// those that the caller gave it, and the pipes of a Family.
func (s *stage) closeOthers() error {
	if s.Family == nil {
		if err := closeOnExec(3, FirstFile-1); err != nil {
			return err
		}
	}
	return closeOnExec(FirstFile+s.Given, maxDescriptor)
}

// dieWithParent has the kernel kill this process when its parent dies.
func (s *stage) dieWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("tie to the parent: %w", err)
	}
	// In a process namespace it cannot be seen; then nobody takes the last report.
	if s.Family == nil && os.Getppid() != s.Parent {
		return errors.New("the parent has died")
	}
	return nil
}

// openProgram opens the program while its name can be seen.
func (s *stage) openProgram() (int, error) {
	path := s.Path
	if path == "" {
		path = "/proc/self/exe"
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open the program %s: %w", path, err)
	}
	return fd, nil
}

// changeUser makes root nobody. The raw calls change this thread only.
func (s *stage) changeUser() error {
	if s.User < 0 {
		return nil
	}
	if !s.rooted {
		for _, g := range s.Files {
			if dir := s.closedTo(g.Path); dir != "" {
				s.addWarning("runs as root without capabilities, because nobody may not enter %s", dir)
				return nil
			}
		}
	}
	id := uintptr(s.User)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("leave the groups of root: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); errno != 0 {
		return fmt.Errorf("leave the group root: %w", errno)
	}
	// Without this the capabilities would be lost before the bounding set is.
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become nobody: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
		return fmt.Errorf("become nobody: %w", errno)
	}
	return nil
}

// closedTo returns the first parent of path that the user may not enter, or "".
func (s *stage) closedTo(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		var stat unix.Stat_t
		if err := unix.Stat(dir, &stat); err != nil {
			return dir
		}
		enter := stat.Mode&0o001 != 0 || stat.Gid == uint32(s.User) && stat.Mode&0o010 != 0 ||
			stat.Uid == uint32(s.User) && stat.Mode&0o100 != 0
		if !enter {
			return dir
		}
		if dir == "/" {
			return ""
		}
	}
}

// dropCapabilities gives up every capability and the ways to new ones.
func (s *stage) dropCapabilities() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("refuse new privileges: %w", err)
	}
	// KEEPCAPS kept them permitted, not effective.
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err == nil {
		for i := range caps {
			caps[i].Effective = caps[i].Permitted
		}
		_ = unix.Capset(&hdr, &caps[0]) // what is missing is refused below, as it is without capabilities
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		// Refused to a process without CAP_SETPCAP: then there is nothing that the
		// bounding set would bound, since new privileges are refused.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	// cleared with the permitted ones as well
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	caps = [2]unix.CapUserData{}
	if err := unix.Capset(&hdr, &caps[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// setLimits sets the limits of the process.
func (s *stage) setLimits() error {
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"processor time", unix.RLIMIT_CPU, uint64((s.Limits.CPU + time.Second - 1) / time.Second)},
		{"file size", unix.RLIMIT_FSIZE, uint64(s.Limits.FileSize)},
		{"open files", unix.RLIMIT_NOFILE, uint64(s.Limits.Files)},
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, 0},
		{"threads", unix.RLIMIT_NPROC, uint64(s.Limits.Processes)},
		// Private writable memory. The address space is no measure: runtimes
		// reserve far more of it than they use.
		{"memory", unix.RLIMIT_DATA, uint64(s.Limits.Memory)},
	}
	for _, l := range limits {
		if l.resource == unix.RLIMIT_NPROC && !s.Private {
			continue // would count all processes of the user, not ours
		}
		if l.resource == unix.RLIMIT_DATA && s.Family != nil {
			continue // is that of one process, and not of all together
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("read the limit of %s: %w", l.name, err)
		}
		value := min(l.value, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit %s to %s: %w", l.name, strconv.FormatUint(value, 10), err)
		}
	}
	return nil
}
