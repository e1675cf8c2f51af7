//go:build linux

package chromium

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merlon/internal/sandbox"
	"merlon/internal/scan"
)

func TestMain(m *testing.M) {
	sandbox.Init()
	os.Exit(m.Run())
}

// ways are both ways to start a browser.
var ways = map[string]func(context.Context, *Options) (*process, error){
	"here":  func(_ context.Context, o *Options) (*process, error) { return startProcess(o) },
	"alone": startAlone,
}

// ask sends a command and returns what is answered.
func ask(t *testing.T, b *scan.Chromium, answers *bufio.Reader, command string) string {
	t.Helper()
	if _, err := b.Pipe.Write(append([]byte(command), 0)); err != nil {
		t.Fatal(err, b.ExitReason())
	}
	answer, err := answers.ReadString(0)
	if err != nil {
		t.Fatal(err, b.ExitReason())
	}
	return answer
}

// TestProcess looks at the process: its rights, its way out, and that nothing of it stays.
func TestProcess(t *testing.T) {
	path, err := Find()
	if err != nil {
		t.Fatal(err, "(scripts/deps.sh installs it)")
	}
	for name, run := range ways {
		t.Run(name, func(t *testing.T) {
			p, err := run(t.Context(), &Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			b := p.handleOf(3 << 30)
			defer b.Stop()
			asked := make(chan string, 100)
			server := &http.Server{ReadHeaderTimeout: time.Minute,
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					select {
					case asked <- r.URL.String():
					default:
					}
					w.Header().Set("Content-Type", "text/html")
					_, _ = io.WriteString(w, "<script>document.title = 'ran'; new Image().src = "+
						"'http://127.0.0.1:5432/next'</script>")
				})}
			go func() { _ = server.Serve(b.Proxy) }()
			defer func() { _ = server.Close() }()
			answers := bufio.NewReader(b.Pipe)
			if said := ask(t, b, answers,
				`{"id":1,"method":"Target.createTarget","params":{"url":"http://shop.example.org/"}}`); !strings.Contains(said, "targetId") {
				t.Fatal(said)
			}
			for asked, limit := asked,
				time.After(time.Minute); ; { // the picture is asked for by the script of the page
				select {
				case got := <-asked:
					if got != "http://127.0.0.1:5432/next" {
						continue
					}
				case <-limit:
					t.Fatal("script was not run, or did not come to the proxy")
				}
				break
			}
			members := p.members()
			checkRights(t, members, name == "alone")
			if used := memoryOf(members); used < 10<<20 || used > 2<<30 {
				t.Errorf("it seems to take %d bytes", used)
			}
			b.Stop()
			for _, pid := range members {
				if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil &&
					!strings.Contains(string(status), "State:\tZ") {
					t.Errorf("a process is still there:\n%s", status)
				}
			}
			if err := b.ExitReason(); err == nil || !strings.Contains(err.Error(), "the browser has ended (") {
				t.Errorf("ended because of %v", err)
			}
			if _, err := b.Proxy.Accept(); err == nil {
				t.Error("the proxy goes on")
			}
		})
	}
}

// checkRights looks at every process of a browser.
func checkRights(t *testing.T, members []int, alone bool) {
	t.Helper()
	if len(members) < 3 {
		t.Fatalf("%d processes", len(members))
	}
	namespaces := func(pid string) (out []string) {
		for _, kind := range []string{"net", "mnt", "ipc", "pid", "user"} {
			link, err := os.Readlink("/proc/" + pid + "/ns/" + kind)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, link)
		}
		return out
	}
	renderers, ours, root := 0, namespaces("self"), fmt.Sprintf("/proc/%d/root", members[0])
	for _, pid := range members {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // a short one
		}
		if !strings.Contains(string(status), "NoNewPrivs:\t1") {
			t.Error("the browser may gain rights")
		}
		if os.Geteuid() == 0 && !strings.Contains(string(status), "Uid:\t65534\t65534\t65534\t65534") {
			t.Errorf("the browser runs as\n%s", status)
		}
		if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil &&
			strings.Contains(string(command), "--type=renderer") {
			renderers++
			if strings.Contains(string(command), "--no-sandbox") || !strings.Contains(string(status), "Seccomp:	2") {
				t.Errorf("the page is not held by the browser: %s\n%s", command, status)
			}
		}
		if alone && slices.ContainsFunc(namespaces(fmt.Sprint(pid)), func(n string) bool {
			return slices.Contains(ours, n)
		}) {
			t.Errorf("process %d is in a namespace of ours", pid)
		}
	}
	if renderers == 0 {
		t.Error("no process of a page was seen")
	}
	if !alone {
		return
	}
	for _, path := range []string{"/etc/passwd", "/root", "/run", "/var/run", "/home"} {
		if _, err := os.Stat(root + path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the browser sees %s: %v", path, err)
		}
	}
}

// TestMemory ends a browser that takes more than it may.
func TestMemory(t *testing.T) {
	path, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	b, err := StartAlone(t.Context(), Options{Path: path, Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	if _, err := io.Copy(io.Discard, b.Pipe); err != nil {
		t.Error(err)
	}
	if err := b.ExitReason(); err == nil || !strings.Contains(err.Error(), "MiB of memory") {
		t.Errorf("ended because of %v", err)
	}
}

// TestNotAlone says why a browser does not start.
func TestNotAlone(t *testing.T) {
	script := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/nonexistent/chromium": "no such file", script: "is a script"} {
		if _, err := StartAlone(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestEndsWithItsContext leaves no process.
func TestEndsWithItsContext(t *testing.T) {
	path, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b, err := StartAlone(ctx, Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop()
	cancel()
	if _, err := io.Copy(io.Discard, b.Pipe); err != nil {
		t.Error(err)
	}
	if err := b.ExitReason(); err == nil {
		t.Error("it goes on")
	}
}
