package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// This file starts and stops targets.

// nobody is the user that targets run as.
// A vulnerable application can be taken over by the attacks: it must not be able to do harm.
const nobody = "65534"

// A description is the file target.json of a target.
type description struct {
	Name string `json:"name"`
	// Each start takes a free port, so that several targets can run.
	Port  int    `json:"port"`  // where it listens when nothing else is said; not used here
	Ready string `json:"ready"` // a path that answers 200 when the target is up
}

// A server is a target that runs.
// Requests to direct are not counted, those through the proxy are.
type server struct {
	*proxy
	name   string
	dir    string // the throw-away folder
	app    string // the folder that was copied
	direct string // its address beside the proxy
	cmd    *exec.Cmd
	// Closed when the process has ended.
	ended chan struct{}
}

// readyIn is how long a target may take to come up.
// Java servers unpack and compile at the first start.
const readyIn = 3 * time.Minute

// startTarget copies a target and runs it. env is put into its environment.
func (b *bench) startTarget(ctx context.Context, name string, env ...string) (*server, error) {
	home := filepath.Join(b.targets, name)
	text, err := os.ReadFile(filepath.Join(home, "target.json"))
	if err != nil {
		return nil, err
	}
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s/target.json: %w", home, err)
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("only root can run a target as a user without rights")
	}
	s := &server{name: name, app: filepath.Join(home, "app"), ended: make(chan struct{})}
	if s.dir, err = throwAway(s.app, name); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.direct = "http://127.0.0.1:" + strconv.Itoa(port)
	if err := s.launchProgram(b.targets, port, env); err != nil {
		s.stopTarget()
		return nil, err
	}
	if err := s.waitReady(ctx, s.direct+d.Ready); err != nil {
		s.stopTarget()
		return nil, err
	}
	if s.proxy, err = newProxy("127.0.0.1:" + strconv.Itoa(port)); err != nil {
		s.stopTarget()
		return nil, err
	}
	return s, nil
}

// throwAway copies the application into a folder that belongs to nobody.
func throwAway(app, name string) (string, error) {
	dir, err := os.MkdirTemp("", "dast-"+name+"-")
	if err != nil {
		return "", err
	}
	// MkdirTemp makes it 0700 for root; the target has to enter it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return dir, err
	}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o755); err != nil {
		return dir, err
	}
	// Times are kept: servers compile again what seems newer.
	for _, args := range [][]string{{"cp", "-a", app, filepath.Join(dir, "app")},
		{"chown", "-R", nobody + ":" + nobody, filepath.Join(dir, "app"), filepath.Join(dir, "home")}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	return dir, nil
}

// freePort returns a port that is free, with those above it that a target's helpers
// take.
// The port may be taken before the target listens; nothing else on the machine of a measure does.
func freePort() (int, error) {
	for range 200 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		free := true
		for _, offset := range []int{20, 21, 30} {
			helper, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+offset))
			if err != nil {
				free = false
				break
			}
			_ = helper.Close() // nobody asked it
		}
		_ = l.Close() // likewise
		if free {
			return port, nil
		}
	}
	return 0, errors.New("no free port")
}

// launchProgram starts the program with nothing of this one's environment.
func (s *server) launchProgram(targets string, port int, env []string) error {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own
	home := filepath.Join(s.dir, "home")
	// No group of root stays and no program can gain rights (--no-new-privs).
	s.cmd = exec.Command("setpriv", "--reuid="+nobody, "--regid="+nobody, "--clear-groups", "--no-new-privs",
		filepath.Join(targets, s.name, "run"))
	s.cmd.Dir = filepath.Join(s.dir, "app")
	s.cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		"HOME=" + home, "TMPDIR=" + home,
		"PORT=" + strconv.Itoa(port), "TARGETS=" + targets}, env...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	// Databases and helpers of the target are in the same session and are ended with it.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := s.cmd.Start(); err != nil {
		close(s.ended)
		return err
	}
	go func() {
		_ = s.cmd.Wait() // it is killed at the end
		close(s.ended)
	}()
	return nil
}

// waitReady returns when the address answers.
func (s *server) waitReady(ctx context.Context, address string) error {
	client := &http.Client{Timeout: 5 * time.Second}
	for until := time.Now().Add(readyIn); time.Now().Before(until); {
		resp, err := client.Get(address)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.ended:
			// Otherwise a wrong set-up would take the whole time.
			return fmt.Errorf("target %s ended before it was up: %s", s.name, s.logTail())
		case <-time.After(300 * time.Millisecond):
		}
	}
	return fmt.Errorf("target %s was not up after %s: %s", s.name, readyIn, s.logTail())
}

// logTail returns the end of what the target wrote.
func (s *server) logTail() string {
	b, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-400):])
}

// stopTarget ends the target's processes and throws its folder away.
func (s *server) stopTarget() {
	if s.proxy != nil {
		_ = s.listener.Close() // it is only to stop
	}
	if s.cmd != nil && s.cmd.Process != nil {
		// A minus sign before the id addresses the whole group.
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) // they may be gone
		select {
		case <-s.ended:
		case <-time.After(5 * time.Second):
		}
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // helpers that outlive it
		<-s.ended
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "dast:", err)
	}
}
