package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	nobody      = 65534            // the user and group that a browser of root runs as
	startLimit  = 30 * time.Second // for the first answer
	maxOutput   = 16 << 10         // of the browser's own words, kept for an error
	watchPeriod = time.Second      // between looks at its memory
)

// flags are what every browser is started with, beside its profile and proxy.
var flags = []string{
	"--headless", "--remote-debugging-pipe", "--disable-gpu", "--mute-audio", "--hide-scrollbars",
	"--no-first-run", "--no-default-browser-check", "--no-service-autorun", "--no-pings",
	// Nothing by itself: no updates, no reports, no accounts, no look-ups.
	"--disable-background-networking", "--disable-component-update", "--disable-component-extensions-with-background-pages",
	"--disable-default-apps", "--disable-extensions", "--disable-sync", "--disable-breakpad", "--disable-crash-reporter",
	"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--metrics-recording-only",
	"--safebrowsing-disable-auto-update", "--password-store=basic", "--use-mock-keychain",
	"--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions," +
		"CertificateTransparencyComponentUpdater,DialMediaRouteProvider,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable," +
		"LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,SpareRendererForSitePerProcess,Prerender2,WebOTP,PaintHolding",
	// No way around the proxy: no QUIC, no WebRTC beside it, no names resolved here.
	"--disable-quic", "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy",
	"--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--dns-prefetch-disable",
	// Pages that nobody sees run like those that somebody sees.
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
	"--disable-hang-monitor", "--disable-ipc-flooding-protection", "--disable-dev-shm-usage", "--window-size=1280,1024",
	"--disk-cache-size=67108864", "--js-flags=--max-old-space-size=512", "--renderer-process-limit=4",
}

// A process is a running Chromium.
type process struct {
	cmd     *exec.Cmd
	profile string        // its folder, removed at the end
	exited  chan struct{} // closed when it has ended
	output  *tail
	toR     io.ReadCloser
	toW     io.WriteCloser

	once   sync.Once
	mu     sync.Mutex
	reason string // why we ended it
}

// startProcess runs Chromium with the proxy at the address.
func startProcess(o *Options, proxy string) (*process, error) {
	user := o.User
	if user == 0 && os.Geteuid() == 0 {
		user = nobody
	}
	profile, err := os.MkdirTemp("", "merlon-browser-")
	if err != nil {
		return nil, err
	}
	p := &process{profile: profile, exited: make(chan struct{}), output: &tail{}}
	if user != 0 && os.Geteuid() == 0 {
		err = os.Chown(profile, user, user)
	}
	if err == nil {
		err = p.start(o, proxy, user)
	}
	if err != nil {
		_ = os.RemoveAll(profile)
		return nil, err
	}
	go p.watch(o.Memory)
	return p, nil
}

func (p *process) start(o *Options, proxy string, user int) error {
	inR, inW, err := os.Pipe()
	if err != nil {
		return err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_, _ = inR.Close(), inW.Close()
		return err
	}
	args := append([]string{"--user-data-dir=" + p.profile, "--proxy-server=http://" + proxy}, flags...)
	if o.IgnoreCertificates {
		args = append(args, "--ignore-certificate-errors")
	}
	p.cmd = exec.Command(o.Path, append(args, "about:blank")...)
	p.cmd.Dir = p.profile
	p.cmd.Env = []string{
		"HOME=" + p.profile, "TMPDIR=" + p.profile, "XDG_CONFIG_HOME=" + p.profile, "XDG_CACHE_HOME=" + p.profile,
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "DBUS_SESSION_BUS_ADDRESS=disabled:", "DBUS_SYSTEM_BUS_ADDRESS=disabled:",
	}
	p.cmd.ExtraFiles = []*os.File{inR, outW} // 3 and 4
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second
	err = runUnprivileged(p.cmd, user, p.exited)
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		_, _ = inW.Close(), outR.Close()
		return fmt.Errorf("the browser %s cannot be started: %w", o.Path, err)
	}
	p.toR, p.toW = outR, inW
	return nil
}

// stop ends the process with everything that it has started.
func (p *process) stop(reason string) {
	p.once.Do(func() {
		p.mu.Lock()
		p.reason = reason
		p.mu.Unlock()
		killGroup(p.cmd.Process.Pid)
		<-p.exited
		killGroup(p.cmd.Process.Pid) // what was born meanwhile
		for range 20 {
			if os.RemoveAll(p.profile) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // a child is still writing
		}
	})
}

// why tells why the process ended.
func (p *process) why() error {
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
		return fmt.Errorf("the browser has ended (%s): %s", p.cmd.ProcessState, p.output.reason())
	default:
		return errLost
	}
}

// watch ends a process that takes more memory than it may.
func (p *process) watch(limit int64) {
	for {
		select {
		case <-p.exited:
			return
		case <-time.After(watchPeriod):
		}
		if used := groupMemory(p.cmd.Process.Pid); used > limit {
			p.stop(fmt.Sprintf("the browser took %d MiB of memory, more than its %d", used>>20, limit>>20))
			return
		}
	}
}

// A tail keeps the first bytes that are written to it.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := maxOutput - t.buf.Len(); room > 0 {
		t.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// reason returns the line that says most: of a missing sandbox, of a fatal error,
// or the last.
func (t *tail) reason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(t.buf.String()), "\n")
	for _, word := range []string{"No usable sandbox", "FATAL", "error while loading"} {
		for _, line := range lines {
			if strings.Contains(line, word) {
				return cut(line, 300)
			}
		}
	}
	return cut(lines[len(lines)-1], 300)
}

func cut(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// Find returns the path of a Chromium of this machine.
func Find() (string, error) {
	for _, name := range []string{"/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("no Chromium is installed: install the package chromium")
}

// first waits for the answer to a first command.
func (p *process) first(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err := ask(ctx)
	if err == nil {
		return nil
	}
	select {
	case <-p.exited:
		err = p.why()
	case <-time.After(2 * time.Second):
	}
	p.stop("")
	return fmt.Errorf("the browser does not start: %w", err)
}
