//go:build linux

package sandbox

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// familySpec is a family of the test's program.
func familySpec(t *testing.T) Spec {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return Spec{
		Path: program, Dir: "/scratch", Env: []string{"A=b"},
		Family: &Family{Programs: []string{filepath.Dir(program), "/nonexistent"}, Scratch: "/scratch",
			ScratchSize: 1 << 20, Port: 3128, In: in, Out: out},
	}
}

// familyRefused says that the system of the test has no namespaces to give.
func familyRefused() bool { return os.Getenv(refuseVariable) != "" || !canUnshare() }

// TestFamily looks at what a program may do that starts others.
func TestFamily(t *testing.T) {
	if familyRefused() {
		if _, _, err := Start(t.Context(), familySpec(t)); err == nil ||
			!strings.Contains(err.Error(), "start the sandbox") && !strings.Contains(err.Error(), "in the sandbox") {
			t.Errorf("a system without namespaces starts it: %v", err)
		}
		return
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	local, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for name, without := range map[string]map[layer]bool{"all": nil, "no landlock": {layerLandlock: true},
		"no namespaces": {layerNamespaces: true}} {
		t.Run(name, func(t *testing.T) {
			spec := familySpec(t)
			spec.without = without
			for _, allowed := range []struct {
				want string
				args []string
			}{
				{"written", []string{"write", "/scratch/new"}},
				{"user", []string{"again", program, "who"}},
				{"A=b", []string{"again", program, "env"}},
				{"made", []string{"socket", "1"}}, {"made", []string{"socket", "2"}},
			} {
				if got := do(t, spec, allowed.args...); got.Code != 0 || !strings.Contains(got.said, allowed.want) {
					t.Errorf("%q: %+v", allowed.args, got)
				}
			}
			for _, refused := range [][]string{
				{"read", "/etc/passwd"}, {"write", "/new"}, {"writelarge", "/scratch/large"},
				{"read", local.Addr().String()},
				{"tcp", tcp.Addr().String()}, {"unix", local.Addr().String()}, {"socket", "40"}, {"socket", "38"},
				{"socket", "17"},
				{"again", "/bin/sh"}, {"again", program, "tcp", tcp.Addr().String()},
			} {
				if got := do(t, spec, refused...); got.Code != 1 || !strings.HasPrefix(got.said, "error:") {
					t.Errorf("%q was not refused: %+v", refused, got)
				}
			}
			who := do(t, spec, "who")
			for _, want := range []string{"CapPrm:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1",
				"Seccomp:\t2", "\nPid:\t1\n"} {
				if !strings.Contains(who.said, want) {
					t.Errorf("%q is missing:\n%s", want, who.said)
				}
			}
			if strings.HasPrefix(who.said, "user 0\n") {
				t.Error("runs as root")
			}
		})
	}
}

// TestFamilyListens takes what the program connects to on its own loopback.
func TestFamilyListens(t *testing.T) {
	if familyRefused() {
		t.Skip("needs namespaces")
	}
	spec := familySpec(t)
	spec.Args = []string{"tcp", "127.0.0.1:3128"}
	p, _, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Listener.Addr().String(); got != "127.0.0.1:3128" {
		t.Errorf("listens at %s", got)
	}
	conn, err := p.Listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(conn); string(text) != "x" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if r, err := p.Wait(); r.Code != 0 || err != nil {
		t.Errorf("ended with %+v, %v", r, err)
	}
	_, _ = conn.Close(), p.Listener.Close()
}

// TestFamilyEnds leaves none behind, not even one that has left the group.
func TestFamilyEnds(t *testing.T) {
	if familyRefused() {
		t.Skip("needs namespaces")
	}
	spec := familySpec(t)
	spec.Args = []string{"leave", program}
	var out bytes.Buffer
	spec.Stdout = &out
	p, _, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Listener.Close()
	for deadline := time.Now().Add(time.Minute); len(p.Members()) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it has started nothing: %s", out.String())
		}
	}
	members := p.Members()
	if r, err := p.Wait(); r.Code != 0 || err != nil || out.String() != "left\n" {
		t.Errorf("ended with %+v, %v: %s", r, err, out.String())
	}
	for _, pid := range members {
		if err := unix.Kill(pid, 0); err == nil {
			t.Errorf("%d is still there", pid)
		}
	}
}
