package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"merlon/internal/errs"
)

// This file is the part of the parent: it starts the stage, tells it the plan
// through a pipe, and hears through another which protections were refused.

// nobody is the user and group of a program whose parent is root.
const nobody = 65534

// A Process is a program that was started.
type Process struct {
	// Listener takes what a Family connects to on its loopback; nil without one. The
	// caller closes it.
	Listener net.Listener

	ctx   context.Context
	cpu   time.Duration
	pid   int
	ended chan struct{} // closed when state and err are set
	state *os.ProcessState
	err   error
}

// A plan is what the stage is told. It is JSON on file descriptor 3.
type plan struct {
	Path     string // empty: the stage's own program
	Args     []string
	Env      []string
	Dir      string
	Files    []grant
	Limits   Limits
	Parent   int  // process id
	User     int  // to become; -1 stays
	Private  bool // has a user namespace of its own
	Mounts   bool // has a mount namespace of its own
	Without  map[layer]bool
	Warnings []string
	Family   *Family
	Hand     int // the descriptor on which a Family's listener is handed over
	Given    int // how many of the caller's files follow FirstFile
}

// A grant is a file or folder that the program may see.
type grant struct {
	Path   string // as the program names it
	Source string // the same without links
	Write  bool
	Exec   bool
}

// A report is what the stage tells, as a JSON value on file descriptor 4: one
// with the warnings before it becomes the program, and one with the error when
// it could not.
type report struct {
	Warnings []string
	Error    string
}

// Start starts the program and returns it together with the protections that the
// system refused, in words. The program and all of it is killed when the context
// ends or this process dies. The caller must call Wait.
func Start(ctx context.Context, spec Spec) (*Process, []string, error) {
	p, err := newPlan(spec)
	if err != nil {
		return nil, nil, err
	}
	var refused error
	for _, flags := range candidateNamespaces(p) {
		p.Private, p.Mounts = flags&unix.CLONE_NEWUSER != 0, flags&unix.CLONE_NEWNS != 0
		proc, warnings, err := startStage(ctx, spec, p, flags)
		if err == nil || !isRefusal(err) {
			return proc, warnings, err
		}
		if refused == nil {
			refused = err
			p.Warnings = append(p.Warnings, "no namespaces of its own ("+systemReason(err)+
				"): the network and the file "+
				"tree are closed only by what is left")
		}
	}
	return nil, nil, fmt.Errorf("start the sandbox: %w", refused)
}

// candidateNamespaces lists the sets of namespaces to try, the best first. Only a Family has
// processes of its own, and no less.
func candidateNamespaces(p *plan) []uintptr {
	const isolated = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWNS
	if p.Family != nil {
		return []uintptr{unix.CLONE_NEWUSER | unix.CLONE_NEWPID | isolated}
	}
	if p.Without[layerNamespaces] {
		return []uintptr{0}
	}
	if os.Geteuid() == 0 {
		return []uintptr{unix.CLONE_NEWUSER | isolated, isolated, 0} // a container may give root the second
	}
	return []uintptr{unix.CLONE_NEWUSER | isolated, 0}
}

// isRefusal reports whether the system refused namespaces, which is no reason to
// fail.
func isRefusal(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL, syscall.ENOSYS,
		syscall.EUSERS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// systemReason returns the system's word for err.
func systemReason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// newPlan checks the spec and prepares the files for another user.
func newPlan(spec Spec) (*plan, error) {
	p := &plan{
		Path: spec.Path, Args: spec.Args, Env: spec.Env, Dir: spec.Dir,
		Limits: spec.Limits.withDefaults(), Parent: os.Getpid(), User: -1, Without: spec.without, Family: spec.Family,
		Given: len(spec.Files),
	}
	if os.Geteuid() == 0 {
		if err := p.leaveRoot(); err != nil {
			return nil, err
		}
	}
	if p.Family == nil && !hasKey(p.Env, "GOMEMLIMIT") {
		// The collector works harder before the limit ends the program.
		p.Env = append([]string{fmt.Sprintf("GOMEMLIMIT=%d", p.Limits.Memory/8*7)}, p.Env...)
	}
	if p.Dir == "" {
		p.Dir = "/"
		if len(spec.ReadOnly) > 0 {
			p.Dir = spec.ReadOnly[0]
		}
	}
	for _, path := range spec.ReadOnly {
		p.Files = append(p.Files, grant{Path: path})
	}
	for _, path := range spec.ReadWrite {
		p.Files = append(p.Files, grant{Path: path, Write: true})
	}
	for i := range p.Files {
		g := &p.Files[i]
		if !filepath.IsAbs(g.Path) {
			return nil, errs.E(errs.Invalid, "the sandbox needs absolute paths, not %q", g.Path)
		}
		g.Path = filepath.Clean(g.Path)
		source, err := filepath.EvalSymlinks(g.Path)
		if err != nil {
			return nil, fmt.Errorf("give a file to the sandbox: %w", err)
		}
		g.Source = source
		if p.User >= 0 {
			if err := grantGroup(*g, p.User); err != nil {
				p.stayRoot("%s cannot be given to nobody (%v)", g.Path, systemReason(err))
			}
		}
	}
	// An outer folder is mounted before what lies in it.
	slices.SortFunc(p.Files, func(a, b grant) int { return strings.Compare(a.Path, b.Path) })
	if p.Path == "" {
		return p, nil
	}
	source, err := filepath.EvalSymlinks(p.Path)
	if err != nil || !filepath.IsAbs(p.Path) {
		return nil, errs.Wrap(errs.Invalid, err, "the program %q is not an absolute path to a file", p.Path)
	}
	p.Files = append(p.Files, grant{Path: filepath.Clean(p.Path), Source: source, Exec: true})
	return p, nil
}

// leaveRoot has the program run as nobody, if there is one.
func (p *plan) leaveRoot() error {
	for _, path := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		ids, err := readIdentityMap(path)
		if err != nil {
			return err
		}
		there := func(m syscall.SysProcIDMap) bool { return m.ContainerID <= nobody && nobody < m.ContainerID+m.Size }
		if !slices.ContainsFunc(ids, there) {
			p.stayRoot("this system has no user nobody")
			return nil
		}
	}
	p.User = nobody
	return nil
}

// stayRoot has the program run as root after all.
func (p *plan) stayRoot(format string, args ...any) {
	p.User = -1
	p.Warnings = append(p.Warnings, "runs as root without capabilities: "+fmt.Sprintf(format, args...))
}

// hasKey reports whether the environment has the variable.
func hasKey(env []string, key string) bool {
	for _, e := range env {
		if strings.HasPrefix(e, key+"=") {
			return true
		}
	}
	return false
}

// grantGroup lets the group read all that is below the grant, and write it where the
// grant says so. Nobody else gains anything, and the owner stays.
func grantGroup(g grant, group int) error {
	return filepath.WalkDir(g.Source, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode, want := info.Mode().Perm(), os.FileMode(0o4)
		if g.Write {
			want |= 0o2
		}
		if info.IsDir() {
			want |= 0o1
		} else if !info.Mode().IsRegular() {
			return nil
		}
		if mode&want == want {
			return nil // everybody may already
		}
		if err := os.Lchown(path, -1, group); err != nil {
			return err
		}
		return os.Chmod(path, mode|want<<3)
	})
}

// startStage runs the stage in the namespaces and waits until it has become the
// program.
func startStage(ctx context.Context, spec Spec, p *plan, flags uintptr) (*Process, []string, error) {
	planRead, planWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, planRead.Close(), planWrite.Close())
	}
	defer func() {
		for _, f := range []*os.File{planRead, planWrite, reportRead, reportWrite} {
			_ = f.Close() // pipes whose talk is over
		}
	}()

	cmd := exec.Command("/proc/self/exe", stageArg)
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{} // nil would be ours
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = spec.Stdout, spec.Stderr
	cmd.ExtraFiles = append([]*os.File{planRead, reportWrite}, spec.Files...)
	cmd.WaitDelay = 10 * time.Second // for writers that do not take what is left
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.Private {
		if cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings, err = idMappings(p.Family != nil); err != nil {
			return nil, nil, err
		}
		cmd.SysProcAttr.GidMappingsEnableSetgroups = p.User >= 0
	}
	var hand handOver
	if p.Family != nil {
		if hand, err = newHandOver(); err != nil {
			return nil, nil, err
		}
		defer hand.close()
		p.Hand = 3 + len(cmd.ExtraFiles)
		cmd.ExtraFiles = append(cmd.ExtraFiles, hand.theirs, p.Family.In, p.Family.Out)
		cmd.SysProcAttr.AmbientCaps = stageCaps
	}
	if err := CloseInherited(); err != nil {
		return nil, nil, err
	}
	proc := &Process{ctx: ctx, cpu: p.Limits.CPU, ended: make(chan struct{})}
	if err := proc.startOnThread(cmd); err != nil {
		return nil, nil, err
	}
	// ours, or its end is never seen
	warnings, err := exchangePlan(p, planWrite, reportRead, func() { _ = reportWrite.Close() })
	if err == nil && p.Family != nil {
		proc.Listener, err = hand.takeListener()
	}
	if err != nil {
		proc.killGroup()
		<-proc.ended
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, err
	}
	return proc, append(p.Warnings, warnings...), nil
}

// idMappings maps the users and groups: root has all of its own, anybody else
// becomes root of the namespace, a root that owns nothing, or stays who he is where a
// program refuses to be root.
func idMappings(stays bool) (users, groups []syscall.SysProcIDMap, err error) {
	if os.Geteuid() != 0 {
		users = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		groups = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		if stays {
			users[0].ContainerID, groups[0].ContainerID = users[0].HostID, groups[0].HostID
		}
		return users, groups, nil
	}
	if users, err = readIdentityMap("/proc/self/uid_map"); err != nil {
		return nil, nil, err
	}
	groups, err = readIdentityMap("/proc/self/gid_map")
	return users, groups, err
}

// readIdentityMap reads a map of ids (user_namespaces(7)) and maps every id to itself.
func readIdentityMap(path string) ([]syscall.SysProcIDMap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	var ids []syscall.SysProcIDMap
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var inside, outside, size int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &size); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		ids = append(ids, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return ids, lines.Err()
}

// exchangePlan tells the stage the plan and hears its reports, until it has become
// the program or has failed.
func exchangePlan(p *plan, to io.WriteCloser, from io.Reader, closeOurs func()) ([]string, error) {
	closeOurs()
	go func() {
		// A stage that died reads nothing; its silence is noticed below.
		_ = json.NewEncoder(to).Encode(p)
		_ = to.Close()
	}()
	reports := json.NewDecoder(io.LimitReader(from, 1<<20))
	var first, second report
	if err := reports.Decode(&first); err != nil {
		return nil, errors.New("the sandbox ended before it could start the program")
	}
	if err := reports.Decode(&second); err == nil {
		first.Error = second.Error
	}
	if first.Error != "" {
		return nil, errors.New("start the program in the sandbox: " + first.Error)
	}
	return first.Warnings, nil
}

// startOnThread starts the command on a thread of its own, which stays until the command
// has ended: the death signal comes when the thread that started it dies, not
// the process (prctl(2), PR_SET_PDEATHSIG).
func (p *Process) startOnThread(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		stop := context.AfterFunc(p.ctx, p.killGroup)
		p.err = cmd.Wait()
		stop()
		p.killGroup() // what the program may have left in its group
		p.state = cmd.ProcessState
		close(p.ended)
	}()
	return <-started
}

// killGroup ends the program and its group.
func (p *Process) killGroup() {
	_ = syscall.Kill(-p.pid, syscall.SIGKILL) // it may have ended already
}

// Wait waits until the program has ended and returns how. The error is the
// context's when that ended the program, and a *KilledError when a signal did,
// which is what happens at the limit of processor time.
func (p *Process) Wait() (Result, error) {
	<-p.ended
	if p.state == nil {
		return Result{Code: -1}, fmt.Errorf("wait for the sandbox: %w", p.err)
	}
	r := Result{Code: p.state.ExitCode(), CPU: p.state.UserTime() + p.state.SystemTime()}
	if usage, ok := p.state.SysUsage().(*syscall.Rusage); ok {
		r.Memory = usage.Maxrss << 10
	}
	status, ok := p.state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		if err := context.Cause(p.ctx); err != nil {
			return r, err
		}
		killed := &KilledError{Signal: status.Signal().String(), Result: r}
		if s := status.Signal(); (s == syscall.SIGKILL || s == syscall.SIGXCPU) && r.CPU >= p.cpu-time.Second {
			killed.Cause = fmt.Sprintf("the program used more than %v of processor time", p.cpu)
		} else if s == syscall.SIGXFSZ {
			killed.Cause = "the program wrote too large a file"
		}
		return r, killed
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		return r, fmt.Errorf("read what the program writes: %w", p.err)
	}
	return r, nil
}
