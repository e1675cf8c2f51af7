package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"merlon/internal/scan"
)

const (
	nobody      = 65534       // the user and group that a browser of root runs as
	maxOutput   = 16 << 10    // of the browser's own words, kept for an error
	watchPeriod = time.Second // between looks at its memory
)

// flags are what every browser is started with, beside its profile and proxy.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--disable-gpu", "--mute-audio", "--hide-scrollbars",
	"--no-first-run", "--no-default-browser-check", "--no-service-autorun", "--no-pings",
	// Nothing by itself: no updates, no reports, no accounts, no lookups.
	"--disable-background-networking", "--disable-component-update",
	"--disable-component-extensions-with-background-pages",
	"--disable-default-apps", "--disable-extensions", "--disable-sync", "--disable-breakpad",
	"--disable-crash-reporter",
	"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--metrics-recording-only",
	"--safebrowsing-disable-auto-update", "--password-store=basic", "--use-mock-keychain",
	"--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions," +
		"CertificateTransparencyComponentUpdater,DialMediaRouteProvider,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable," +
		"LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,SpareRendererForSitePerProcess,Prerender2,WebOTP,PaintHolding",
	// No way around the proxy: no QUIC, no WebRTC beside it, no names resolved here.
	"--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy",
	"--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	"--dns-prefetch-disable",
	// Pages that nobody sees run like those that somebody sees.
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
	"--disable-renderer-backgrounding",
	"--disable-hang-monitor", "--disable-ipc-flooding-protection", "--disable-dev-shm-usage", "--window-size=1280,1024",
	"--disk-cache-size=67108864", "--js-flags=--max-old-space-size=512", "--renderer-process-limit=4",
}

// A process is a running Chromium.
type process struct {
	exited chan struct{} // closed when it has ended
	output *tail
	toR    io.ReadCloser
	toW    io.WriteCloser
	proxy  net.Listener

	kill    func()        // ends it with everything that it has started
	members func() []int  // its processes
	state   func() string // how it ended
	clear   func()        // removes what it leaves

	once   sync.Once
	mu     sync.Mutex
	reason string // why we ended it
}

// Options say which Chromium is run, and how.
type Options struct {
	Path   string
	User   int   // user and group that Start runs it as, when we are root; 0: 65534
	Memory int64 // of all its processes together, in bytes; 0: 3 GiB
	// IgnoreCertificates lets pages of hosts with bad certificates load.
	IgnoreCertificates bool
}

// memoryLimit returns the limit in bytes, or the default.
func (o *Options) memoryLimit() int64 {
	if o.Memory <= 0 {
		return 3 << 30
	}
	return o.Memory
}

// commandLine returns the arguments and the environment of a browser that writes below the
// folder and has its proxy at the address.
func (o *Options) commandLine(folder, proxy string) (args, env []string) {
	args = append([]string{"--user-data-dir=" + folder, "--proxy-server=http://" + proxy}, flags...)
	if o.IgnoreCertificates {
		args = append(args, "--ignore-certificate-errors")
	}
	return append(args, "about:blank"), []string{
		"HOME=" + folder, "TMPDIR=" + folder, "XDG_CONFIG_HOME=" + folder, "XDG_CACHE_HOME=" + folder,
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "DBUS_SESSION_BUS_ADDRESS=disabled:",
		"DBUS_SYSTEM_BUS_ADDRESS=disabled:",
	}
}

// Start runs Chromium on this machine, as a user without rights where we are root. Its
// way to the network is the proxy; what else it reaches is up to its own sandbox.
func Start(o Options) (*scan.Chromium, error) {
	p, err := startProcess(&o)
	if err != nil {
		return nil, err
	}
	return p.handleOf(o.memoryLimit()), nil
}

// handleOf begins to watch over the process, and returns what others see of it.
func (p *process) handleOf(memory int64) *scan.Chromium {
	go p.enforceMemoryLimit(memory)
	return &scan.Chromium{Pipe: pipe{p.toR, p.toW}, Proxy: p.proxy, Stop: func() { p.killGroup("") },
		ExitReason: p.exitReason}
}

// A pipe is what the browser writes and reads.
type pipe struct {
	io.ReadCloser
	w io.WriteCloser
}

// Write writes to the browser.
func (p pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

// Close closes both ends: the browser ends by itself.
func (p pipe) Close() error { return errors.Join(p.ReadCloser.Close(), p.w.Close()) }

// A pipes is both pairs of ends.
type pipes struct{ inR, inW, outR, outW *os.File }

// newPipes creates both pipes of the DevTools protocol (--remote-debugging-pipe). Unlike a port,
// no other process on the machine can connect to a pipe.
func newPipes() (p pipes, err error) {
	if p.inR, p.inW, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.outR, p.outW, err = os.Pipe(); err != nil {
		return p, errors.Join(err, p.inR.Close(), p.inW.Close())
	}
	return p, nil
}

// closeChildEnds closes the ends that the browser has, and all when it was not started.
func (p pipes) closeChildEnds(err error) {
	_, _ = p.inR.Close(), p.outW.Close()
	if err != nil {
		_, _ = p.inW.Close(), p.outR.Close()
	}
}

// startProcess starts the browser with a temporary profile, which is removed when it ends. Root
// runs it as an unprivileged user.
func startProcess(o *Options) (*process, error) {
	user := o.User
	if user == 0 && os.Geteuid() == 0 {
		user = nobody
	}
	profile, err := os.MkdirTemp("", "merlon-browser-")
	if err != nil {
		return nil, err
	}
	if user != 0 && os.Geteuid() == 0 {
		err = os.Chown(profile, user, user)
	}
	var p *process
	if err == nil {
		p, err = startIn(o, profile, user)
	}
	if err != nil {
		_ = os.RemoveAll(profile)
		return nil, err
	}
	return p, nil
}

// startIn starts the browser with the profile in the folder.
func startIn(o *Options, profile string, user int) (*process, error) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the browser's proxy cannot listen: %w", err)
	}
	ends, err := newPipes()
	if err != nil {
		return nil, errors.Join(err, proxy.Close())
	}
	p := &process{exited: make(chan struct{}), output: &tail{}, proxy: proxy, toR: ends.outR, toW: ends.inW}
	args, env := o.commandLine(profile, proxy.Addr().String())
	cmd := exec.Command(o.Path, args...)
	cmd.Dir, cmd.Env = profile, env
	cmd.ExtraFiles = []*os.File{ends.inR, ends.outW} // 3 and 4
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.WaitDelay = time.Second
	err = runUnprivileged(cmd, user, p.exited)
	ends.closeChildEnds(err)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the browser %s cannot be started: %w", o.Path, err), proxy.Close())
	}
	group := cmd.Process.Pid
	p.kill, p.members = func() { killGroup(group) }, func() []int { return groupMembers(group) }
	p.state = func() string { return cmd.ProcessState.String() }
	p.clear = func() {
		for range 20 {
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // a child is still writing
		}
	}
	return p, nil
}

// killGroup ends the process with everything that it has started.
func (p *process) killGroup(reason string) {
	p.once.Do(func() {
		p.mu.Lock()
		p.reason = reason
		p.mu.Unlock()
		_ = p.proxy.Close()
		p.kill()
		<-p.exited
		p.kill() // what was born meanwhile
		p.clear()
	})
}

// exitReason tells why the process ended.
func (p *process) exitReason() error {
	select { // it is reaped after its pipe has closed
	case <-p.exited:
	case <-time.After(2 * time.Second):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != "" {
		return errors.New(p.reason)
	}
	select {
	case <-p.exited:
		return fmt.Errorf("the browser has ended (%s): %s", p.state(), p.output.mostTellingLine())
	default:
		return errors.New("the browser process has ended")
	}
}

// enforceMemoryLimit ends a process that takes more memory than it may.
func (p *process) enforceMemoryLimit(limit int64) {
	for {
		select {
		case <-p.exited:
			return
		case <-time.After(watchPeriod):
		}
		if used := memoryOf(p.members()); used > limit {
			p.killGroup(fmt.Sprintf("the browser took %d MiB of memory, more than its %d", used>>20, limit>>20))
			return
		}
	}
}

// A tail keeps the first bytes that are written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps the beginning of the browser's output, which explains why it did not start.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxOutput - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// mostTellingLine returns the line that says most: of a missing sandbox, of a fatal error,
// or the last.
func (t *tail) mostTellingLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(t.buf.String()), "\n")
	for _, word := range []string{"No usable sandbox", "FATAL", "error while loading"} {
		for _, line := range lines {
			if strings.Contains(line, word) {
				return firstWords(line)
			}
		}
	}
	return firstWords(lines[len(lines)-1])
}

// firstWords truncates a line of the browser's log.
func firstWords(line string) string { return strings.ToValidUTF8(line[:min(len(line), 300)], "") }

// programs are where distributions and vendors install the browser itself. What is on the
// path is often a script that starts it, which needs a shell.
var programs = []string{
	"/usr/lib/chromium/chromium", "/usr/lib64/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser",
	"/usr/lib64/chromium-browser/chromium-browser", "/opt/google/chrome/chrome", "/opt/chromium.org/chromium/chrome",
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "headless_shell",
}

// Find returns the path of a Chromium of this machine.
func Find() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("no Chromium is installed: install the package chromium")
}

// Choose returns the path of the Chromium that a setting wants ("auto", "none" or a path),
// or why there is none. Without a path and a reason none is wanted.
func Choose(setting string) (path, reason string) {
	switch setting {
	case "none":
		return "", ""
	case "auto":
		path, err := Find()
		if err != nil {
			return "", err.Error()
		}
		return path, ""
	}
	return setting, ""
}
