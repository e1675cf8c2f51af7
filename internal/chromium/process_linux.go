package chromium

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// runUnprivileged starts the command as the user, in a process group of its own,
// unable to gain rights by programs that it runs, and to be killed when we die.
// exited is closed when it has ended.
func runUnprivileged(cmd *exec.Cmd, user int, exited chan struct{}) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if user != 0 && os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
	}
	started := make(chan error, 1)
	go func() {
		// The promise to gain no rights is the thread's, which children inherit; and the
		// death signal comes with the end of the thread. So it is never given back.
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(exited)
		}
	}()
	return <-started
}

// killGroup kills all processes of the group.
func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }

// groupMembers returns the processes of the group.
func groupMembers(group int) (members []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if g, err := syscall.Getpgid(pid); err == nil && g == group {
				members = append(members, pid)
			}
		}
	}
	return members
}

// memoryOf returns the memory that processes hold for themselves or share with each
// other, in bytes.
func memoryOf(members []int) int64 {
	var total int64
	for _, pid := range members {
		total += privateMemory(pid)
	}
	return total
}

// privateMemory returns the anonymous and shared memory of a process from /proc/PID/status
// (proc_pid_status(5)). Mapped files, such as the browser itself, do not count.
func privateMemory(pid int) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	var total int64
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(string(line), ":")
		if name == "RssAnon" || name == "RssShmem" {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			total += n << 10
		}
	}
	return total
}
