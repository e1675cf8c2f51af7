//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests run twice when root runs them: as root and as an ordinary user.
const (
	programVariable = "SANDBOX_TEST_PROGRAM"
	parentVariable  = "SANDBOX_TEST_PARENT"
	refuseVariable  = "SANDBOX_TEST_REFUSE" // kinds of namespaces that the system refuses
	ordinaryUser    = 12345
)

// program is built for the tests, without the race detector, whose runtime
// reserves terabytes.
var program string

func TestMain(m *testing.M) {
	Init()
	if program = os.Getenv(programVariable); program != "" {
		if os.Getenv(parentVariable) != "" {
			os.Exit(parent())
		}
		for _, kind := range strings.Fields(os.Getenv(refuseVariable)) {
			if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "sandbox-test")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/program").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the test program: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // a temporary folder
	os.Exit(code)
}

// TestAsOrdinaryUser runs this package's tests again as a user without rights.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("runs as an ordinary user already")
	}
	tmp := t.TempDir()
	for dir := tmp; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{programVariable + "=" + program, "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryUser, Gid: ordinaryUser}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("--- PASS: TestRefuses")) {
		t.Errorf("the tests did not run:\n%s", out)
	}
}

// TestInContainer runs tests again as a root that is none outside and has no
// nobody, in a system that refuses namespaces.
func TestInContainer(t *testing.T) {
	if os.Getenv(refuseVariable) != "" || !canUnshare() {
		t.Skip("needs a namespace of its own")
	}
	for _, refused := range []string{"user", "user net", "user mnt net ipc"} {
		t.Run(refused, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v",
				"-test.run=TestAllows|TestRefuses|TestFamily")
			cmd.Env = []string{programVariable + "=" + program, refuseVariable + "=" + refused, "TMPDIR=" + t.TempDir(),
				"PATH=" + os.Getenv("PATH")}
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  unix.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("--- PASS: TestRefuses")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// place makes a folder that a sandbox may get, below one that nobody may enter.
func place(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "closed", "open")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// outcome is how a program ended and all that it said.
type outcome struct {
	Result
	err      error
	said     string
	warnings []string
}

func do(t *testing.T, spec Spec, args ...string) outcome {
	t.Helper()
	var out bytes.Buffer
	spec.Args, spec.Stdout, spec.Stderr = args, &out, &out
	if spec.Path == "" {
		spec.Path = program
	}
	p, warnings, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("Start(%v) = %v", args, err)
	}
	r, err := p.Wait()
	return outcome{Result: r, err: err, said: out.String(), warnings: warnings}
}

// layers are the sets of protections that each test is repeated with: all, and
// those that are left on systems that refuse some.
var layers = map[string]map[layer]bool{
	"all":           nil,
	"no namespaces": {layerNamespaces: true},
	"no landlock":   {layerLandlock: true},
	"no seccomp":    {layerSeccomp: true},
	"only landlock": {layerNamespaces: true, layerSeccomp: true},
	"only mounts":   {layerLandlock: true, layerSeccomp: true},
}

func TestAllows(t *testing.T) {
	for name, without := range layers {
		t.Run(name, func(t *testing.T) {
			ro, rw := place(t), place(t)
			file := write(t, filepath.Join(ro, "a.txt"), "hello")
			spec := Spec{ReadOnly: []string{ro}, ReadWrite: []string{rw}, Env: []string{"A=b"}, without: without}
			if got := do(t, spec, "read", file); got.said != "hello\n" || got.err != nil || got.Code != 0 {
				t.Errorf("read a file that was given: %+v", got)
			}
			if got := do(t, spec, "read", "a.txt"); got.said != "hello\n" {
				t.Errorf("read in the working folder: %+v", got)
			}
			written := filepath.Join(rw, "b.txt")
			if got := do(t, spec, "write", written); got.said != "written\n" {
				t.Errorf("write where it may: %+v", got)
			}
			if b, err := os.ReadFile(written); string(b) != "x" {
				t.Errorf("written file = %q, %v", b, err)
			}
			if got := do(t, spec, "exit"); got.Code != 7 || got.err != nil {
				t.Errorf("exit code: %+v", got)
			}
		})
	}
}

// TestInheritsNoDescriptor opens files that programs would inherit, before and after the
// first sandbox, and looks at what the program has open.
func TestInheritsNoDescriptor(t *testing.T) {
	leak := func() {
		t.Helper()
		for range 20 {
			fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // without O_CLOEXEC
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = unix.Close(fd) })
		}
	}
	given, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	for name, without := range layers {
		t.Run(name, func(t *testing.T) {
			leak()
			spec := Spec{ReadOnly: []string{place(t)}, without: without}
			if got := do(t, spec, "descriptors"); got.said != "0 1 2\n" {
				t.Errorf("the program has %+v", got)
			}
			spec.Files = []*os.File{given, given}
			if got := do(t, spec, "descriptors"); got.said != "0 1 2 5 6\n" {
				t.Errorf("with two files: %+v", got)
			}
		})
	}
}

// TestCloseInherited starts a program without a sandbox.
func TestCloseInherited(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := CloseInherited(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "descriptors").CombinedOutput()
	if err != nil || string(out) != "0 1 2\n" {
		t.Errorf("a program has %q, %v", out, err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v", flags, err)
	}
}

func TestWarnings(t *testing.T) {
	if got := do(t, Spec{ReadOnly: []string{place(t)}}, "env"); canUnshare() && len(got.warnings) != 0 {
		t.Errorf("warnings with every protection: %q", got.warnings)
	}
	if os.Geteuid() != 0 {
		return
	}
	got := do(t, Spec{ReadOnly: []string{place(t)}, without: map[layer]bool{layerNamespaces: true}}, "env")
	if len(got.warnings) != 1 || !strings.Contains(got.warnings[0], "runs as root without capabilities") {
		t.Errorf("warnings without namespaces: %q", got.warnings)
	}
}

// TestRuleset asks what is used of each version of Landlock.
func TestRuleset(t *testing.T) {
	for _, test := range []struct {
		version int
		files   uint64
		net     uint64
		scoped  uint64
		missing string
	}{
		{1, 1<<13 - 1, 0, 0, "truncating is not refused"},
		{2, 1<<14 - 1, 0, 0, "truncating is not refused"},
		{3, 1<<15 - 1, 0, 0, "signals to other processes of the user are not refused"},
		{4, 1<<15 - 1, 3, 0, "signals to other processes of the user are not refused"},
		{5, 1<<16 - 1, 3, 0, "signals to other processes of the user are not refused"},
		{6, 1<<16 - 1, 3, 3, ""},
		{12, 1<<16 - 1, 3, 3, ""},
	} {
		attr, missing := newRuleset(test.version)
		if attr.Handled_access_fs != test.files || attr.Handled_access_net != test.net || attr.Scoped != test.scoped ||
			missing != test.missing {
			t.Errorf("ruleset(%d) = %+v, %q; want %+v", test.version, attr, missing, test)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET", "1")
	got := do(t, Spec{Env: []string{"A=b"}, Limits: Limits{Memory: 800 << 20}}, "env")
	if want := "GOMEMLIMIT=734003200\nA=b\n"; got.said != want {
		t.Errorf("environment = %q, want %q", got.said, want)
	}
}

func TestRefuses(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	ro, outside := place(t), place(t)
	file := write(t, filepath.Join(ro, "a.txt"), "hello")
	secret := write(t, filepath.Join(outside, "secret"), "secret")
	// What everybody may read must be closed too.
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		args    []string
		without []string // sets of protections that do not cover it
	}{
		{"read outside", []string{"read", secret}, nil},
		{"read outside by a detour", []string{"read", ro + "/../../../closed/../" + secret}, nil},
		{"read the system", []string{"read", "/etc/passwd"}, nil},
		{"read another process", []string{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())}, nil},
		{"write outside", []string{"write", filepath.Join(outside, "new")}, nil},
		{"write what is only read", []string{"write", file}, nil},
		{"write in a folder that is only read", []string{"write", filepath.Join(ro, "new")}, nil},
		{"write in the root", []string{"write", "/new"}, nil},
		{"make a link", []string{"link", filepath.Join(ro, "link")}, nil},
		{"connect", []string{"tcp", tcp.Addr().String()}, nil},
		{"send", []string{"udp", udp.LocalAddr().String()}, []string{"only landlock"}},
		{"run a program", []string{"run", program}, []string{"no seccomp", "only landlock", "only mounts"}},
		{"run a program of the system", []string{"run", "/bin/true"}, nil},
		{"signal the parent", []string{"signal", strconv.Itoa(os.Getpid())}, []string{"no landlock", "only mounts"}},
	}
	for name, without := range layers {
		if strings.Contains(os.Getenv(refuseVariable), "net") && name != "all" {
			continue // the namespaces are left out already
		}
		spec := Spec{ReadOnly: []string{ro}, without: without}
		for _, test := range tests {
			if slices.Contains(test.without, name) {
				continue
			}
			t.Run(name+"/"+test.name, func(t *testing.T) {
				if got := do(t, spec, test.args...); got.Code != 1 || !strings.HasPrefix(got.said, "error:") {
					t.Errorf("was not refused: %+v", got)
				}
			})
		}
	}
}

// TestWho looks at what the kernel says about the program.
func TestWho(t *testing.T) {
	for name, without := range layers {
		got := do(t, Spec{without: without}, "who")
		for _, want := range []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000",
			"CapAmb:\t0000000000000000", "NoNewPrivs:\t1"} {
			if !strings.Contains(got.said, want) {
				t.Errorf("%s: %q is missing:\n%s", name, want, got.said)
			}
		}
		if os.Geteuid() == 0 && !strings.HasPrefix(got.said, "user 65534\n") {
			t.Errorf("%s: root's program runs as %q", name, strings.SplitN(got.said, "\n", 2)[0])
		}
		if !without[layerSeccomp] && !strings.Contains(got.said, "Seccomp:\t2") {
			t.Errorf("%s: no filter of system calls", name)
		}
	}
}

// TestSeesOnlyItsTree lists the root.
func TestSeesOnlyItsTree(t *testing.T) {
	if os.Geteuid() != 0 && !canUnshare() {
		t.Skip("this system refuses namespaces to an ordinary user")
	}
	dir := place(t)
	got := do(t, Spec{ReadOnly: []string{dir}}, "list", "/etc/*")
	if strings.Contains(got.said, "passwd") {
		t.Errorf("sees the system's settings: %s", got.said)
	}
}

// TestServiceWithPrivateFiles starts a program while the service makes every file for
// its owner only: the program still enters its folder.
func TestServiceWithPrivateFiles(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := place(t)
	if err := os.WriteFile(filepath.Join(dir, "given"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := do(t, Spec{ReadOnly: []string{dir}}, "list", dir+"/*")
	if got.err != nil || !strings.Contains(got.said, "given") {
		t.Errorf("got code %d, %v: %s", got.Code, got.err, got.said)
	}
}

func canUnshare() bool {
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return cmd.Run() == nil
}

func TestLimits(t *testing.T) {
	rw := place(t)
	t.Run("processor time", func(t *testing.T) {
		got := do(t, Spec{Limits: Limits{CPU: time.Second}}, "spin")
		var killed *KilledError
		if !errors.As(got.err, &killed) || killed.Cause != "the program used more than 1s of processor time" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("memory", func(t *testing.T) {
		got := do(t, Spec{Limits: Limits{Memory: 256 << 20}}, "eat")
		if got.Code != 2 || !strings.Contains(got.said, "out of memory") &&
			!strings.Contains(got.said, "cannot allocate memory") {
			t.Errorf("got code %d, %v, %.500s", got.Code, got.err, got.said)
		}
		if got.Memory > 256<<20 {
			t.Errorf("used %d bytes", got.Memory)
		}
	})
	t.Run("file size", func(t *testing.T) {
		got := do(t, Spec{ReadWrite: []string{rw}, Limits: Limits{FileSize: 1 << 20}}, "writelarge",
			filepath.Join(rw, "large"))
		if got.Code == 0 && got.err == nil {
			t.Errorf("got %+v", got)
		}
		if info, err := os.Stat(filepath.Join(rw, "large")); err != nil || info.Size() > 1<<20 {
			t.Errorf("file: %v, %v", info, err)
		}
	})
	t.Run("open files", func(t *testing.T) {
		if got := do(t, Spec{Limits: Limits{Files: 32}}, "open"); !strings.Contains(got.said, "too many open files") {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("threads", func(t *testing.T) {
		if os.Geteuid() != 0 && !canUnshare() {
			t.Skip("this system refuses namespaces to an ordinary user")
		}
		if got := do(t, Spec{Limits: Limits{Processes: 64}}, "threads"); got.Code == 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestContextEndsProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	p, _, err := Start(ctx, Spec{Path: program, Args: []string{"wait"}, Stdout: in})
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready") {
		t.Fatalf("the program said %q, %v", line, err)
	}
	cancel()
	if _, err := p.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v", err)
	}
}

func TestStartFails(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		spec Spec
		want string
	}{
		"no such program": {t.Context(), Spec{Path: "/nowhere/program"}, "not an absolute path to a file"},
		"no such file":    {t.Context(), Spec{Path: program, ReadOnly: []string{"/nowhere"}}, "no such file"},
		"relative":        {t.Context(), Spec{Path: program, ReadOnly: []string{"."}}, "absolute paths"},
		"not a program": {t.Context(), Spec{Path: write(t, filepath.Join(t.TempDir(), "text"), "text")},
			"execute: permission denied"},
		"no such folder":     {t.Context(), Spec{Path: program, Dir: "/nowhere"}, "no such file"},
		"nothing left to do": {ended, Spec{Path: program}, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := Start(test.ctx, test.spec)
			if err == nil {
				_, err = p.Wait()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Start = %v, want %q", err, test.want)
			}
		})
	}
}

// TestDiesWithParent kills a process that has started a sandbox.
func TestDiesWithParent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), programVariable+"="+program, parentVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, new(string), &pid); err != nil {
		t.Fatal(err)
	}
	child, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("the program does not run: %v", err)
	}
	defer unix.Close(child)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(child), Events: unix.POLLIN}}, 10_000); n != 1 || err != nil {
		t.Errorf("the program outlived its parent: %d, %v", n, err)
		_ = syscall.Kill(pid, syscall.SIGKILL) // whatever it was
	}
}

// parent is the process that TestDiesWithParent kills.
func parent() int {
	p, _, err := Start(context.Background(), Spec{Path: program, Args: []string{"wait"}, Stdout: os.Stdout})
	if err == nil {
		_, err = p.Wait()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// TestOwnProgram runs the running program itself, which is what a worker does.
func TestOwnProgram(t *testing.T) {
	var out bytes.Buffer
	spec := Spec{Args: []string{"-test.list=TestOwn.*"}, Stdout: &out, Stderr: &out, Limits: Limits{Memory: 1 << 60}}
	p, _, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	// The program builds another when it does not know of the one that is there;
	// it may not, and says so.
	if r, err := p.Wait(); err != nil || r.Code == 0 && !strings.Contains(out.String(), "TestOwnProgram") {
		t.Errorf("Wait = %+v, %v, %s", r, err, out.String())
	}
}

func TestStageByHand(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", stageArg).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is for the program itself") {
		t.Errorf("got %q, %v", out, err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, _, err := Start(b.Context(), Spec{Path: program, Args: []string{"env"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStartWithout(b *testing.B) {
	for b.Loop() {
		if err := exec.Command(program, "env").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
