// Command program does one thing that a sandbox should allow or refuse, and says
// how it went. It has C parts, as the real program does.
package main

/*
#include <unistd.h>
static int user(void) { return getuid(); }
*/
import "C"

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	said, err := do(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(said)
}

func do(what string, args []string) (string, error) {
	switch what {
	case "read":
		b, err := os.ReadFile(args[0])
		return string(b), err
	case "descriptors": // without those of the runtime, which are closed on exec
		var open []string
		for fd := range 4096 {
			flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
			if errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
				open = append(open, fmt.Sprint(fd))
			}
		}
		return strings.Join(open, " "), nil
	case "list":
		names, err := filepath.Glob(args[0])
		return strings.Join(names, " "), err
	case "write":
		return "written", os.WriteFile(args[0], []byte("x"), 0o600)
	case "writelarge":
		return "written", os.WriteFile(args[0], make([]byte, 4<<20), 0o600)
	case "link":
		return "linked", os.Symlink("/etc/passwd", args[0])
	case "tcp", "udp":
		c, err := net.Dial(what, args[0])
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		return "sent", err
	case "unix":
		c, err := net.Dial("unix", args[0])
		if err == nil {
			err = c.Close()
		}
		return "connected", err
	case "socket":
		var domain int
		if _, err := fmt.Sscan(args[0], &domain); err != nil {
			return "", err
		}
		_, err := syscall.Socket(domain, syscall.SOCK_STREAM, 0)
		return "made", err
	case "again":
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		return string(out), err
	case "leave": // one behind that has left the group
		c := exec.Command(args[0], "wait")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			return "", err
		}
		time.Sleep(300 * time.Millisecond) // for who looks at both
		return "left", nil
	case "env":
		return strings.Join(os.Environ(), "\n"), nil
	case "who":
		status, err := os.ReadFile("/proc/self/status")
		return fmt.Sprintf("user %d\n%s", C.user(), status), err
	case "spin":
		for i := 0; ; i++ {
			_ = i
		}
	case "eat":
		var all [][]byte
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
		}
	case "run":
		out, err := exec.Command(args[0]).CombinedOutput()
		return string(out), err
	case "open":
		for {
			if _, err := os.Open("/dev/null"); err != nil {
				return "", err
			}
		}
	case "signal":
		var pid int
		if _, err := fmt.Sscan(args[0], &pid); err != nil {
			return "", err
		}
		return "signalled", syscall.Kill(pid, 0)
	case "threads":
		for i := range 400 {
			go func() { // each blocked read of a pipe of the system takes a thread
				var p [2]int
				if err := syscall.Pipe(p[:]); err != nil {
					fmt.Println("error:", i, err)
					os.Exit(1)
				}
				_, _ = syscall.Read(p[0], make([]byte, 1))
			}()
		}
		time.Sleep(5 * time.Second)
		return "400 threads", nil
	case "wait":
		fmt.Println("ready", os.Getpid())
		time.Sleep(time.Hour)
	case "exit":
		os.Exit(7)
	}
	return "", fmt.Errorf("cannot do %q", what)
}
