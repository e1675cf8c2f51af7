package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"merlon/internal/sandbox"
	"merlon/internal/scan"
)

const (
	folder      = "/profile" // in memory
	folderSize  = 512 << 20  // bytes
	proxyPort   = 3128       // on a loopback that nobody else is on
	maxProcess  = 2000       // threads
	maxFiles    = 8192
	maxFileSize = 256 << 20
	maxTime     = 24 * time.Hour // of processor time of one process
)

// needed are parts of the system that a browser reads beside its own folder and the
// libraries.
var needed = []string{"/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig",
	"/var/cache/fontconfig"}

// StartAlone runs Chromium where there is nothing but itself: its own network, in which
// the proxy is the only other end, its own processes, a file tree with the browser, fonts
// and a folder in memory, and a filter of system calls (sandbox.Family). A browser that
// was taken over reaches what the proxy connects it to. Where the system refuses one of
// these there is no browser. It ends with the context.
func StartAlone(ctx context.Context, o Options) (*scan.Chromium, error) {
	p, err := startAlone(ctx, &o)
	if err != nil {
		return nil, err
	}
	return p.handleOf(o.memoryLimit()), nil
}

// errKilled says that we have ended the browser.
var errKilled = errors.New("killed")

// startAlone starts the browser in a sandbox of its own: namespaces without a network, and limits
// of time, files and processes. A page of an attacker may take over the browser.
func startAlone(ctx context.Context, o *Options) (*process, error) {
	path, err := executablePath(o.Path)
	if err != nil {
		return nil, err
	}
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	p := &process{exited: make(chan struct{}), output: &tail{}, toR: ends.outR, toW: ends.inW, clear: func() {}}
	args, env := o.commandLine(folder, fmt.Sprintf("127.0.0.1:%d", proxyPort))
	ctx, cancel := context.WithCancelCause(ctx)
	program, _, err := sandbox.Start(ctx, sandbox.Spec{ // what Landlock cannot refuse, namespaces do
		Path: path, Args: args, Env: env, Dir: folder, Stdout: p.output, Stderr: p.output,
		Limits: sandbox.Limits{CPU: maxTime, Files: maxFiles, FileSize: maxFileSize, Processes: maxProcess},
		Family: &sandbox.Family{Programs: append([]string{filepath.Dir(path)}, needed...), Scratch: folder,
			ScratchSize: folderSize, Port: proxyPort, In: ends.inR, Out: ends.outW},
	})
	ends.closeChildEnds(err)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("the browser %s cannot be started: %w", o.Path, err)
	}
	p.proxy, p.kill, p.members = program.Listener, func() { cancel(errKilled) }, program.Members
	var end error
	p.state = func() string { return end.Error() }
	go func() {
		result, err := program.Wait()
		if end = err; end == nil {
			end = fmt.Errorf("exit status %d", result.Code)
		}
		cancel(nil)
		_ = p.proxy.Close()
		close(p.exited)
	}()
	return p, nil
}

// executablePath returns the path of the program without links. A script that starts one needs
// what a browser does not.
func executablePath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("the browser cannot be started: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the browser cannot be started: %w", err)
	}
	defer func() { _ = f.Close() }() // was only read
	var begin [2]byte
	if _, err := f.Read(begin[:]); err != nil {
		return "", fmt.Errorf("the browser cannot be started: %w", err)
	}
	if string(begin[:]) == "#!" {
		return "", errors.New(path + " is a script that starts a browser: name the browser itself")
	}
	return path, nil
}
