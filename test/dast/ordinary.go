package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"merlon/test/table"
)

// This file shows that a scan leaves ordinary applications as they were. Each is set up from
// packages of the system, runs as a user without rights in a network of its own, and is
// scanned signed in as its administrator with the default profile. What it stores is dumped
// before and after: lines may only be added, and have to hold the mark of an object that the
// report lists, but for what the application adds with every visit (VOLATILE). No line may be
// lost or changed, but for what every visit changes, such as the time of the last sign-in
// (CHANGING). The network
// has no way out: the kernel counts each connection and datagram that looks for one.

// ordinaries are the applications, scripts in the folder ordinary.
var ordinaries = []string{"shaarli", "dokuwiki", "django", "mediawiki", "fossil", "rt", "redmine", "phpliteadmin",
	"pocketbase", "nodered"}

// ordinaryTime is how long each is scanned.
// Long enough for all checks on so small an application.
const ordinaryTime = 2 * time.Minute

// An ordinaryResult is what a scan did to an application.
// The measure is met without Harm and Packets, and with Smoke and Held.
type ordinaryResult struct {
	Application string
	Requests    int
	Created     int      // objects that the report lists
	Removed     int      // of them, in the end
	Harm        []string // lines that differ although no object of the report explains them
	Packets     int      // connections and datagrams to elsewhere
	Smoke       bool     // the application works as before
	Held        bool     // the session did
	Findings    int
}

// An ordinaryApp is an application that runs.
type ordinaryApp struct {
	name, script, dir string
	port              int
	// A network namespace lives as long as a process in it.
	space  *exec.Cmd // that holds the network
	server *exec.Cmd
}

// measureOrdinary scans ordinary applications with data of users, and compares dumps of their
// databases before and after: a scan must not damage what it did not create.
func measureOrdinary(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	var results []ordinaryResult
	// One application that does not start must not hide the others.
	var failed error
	for _, name := range ordinaries {
		if !b.cases.MatchString(name) {
			continue
		}
		got, err := b.scanOrdinary(ctx, name)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		results = append(results, *got)
		value := fmt.Sprintf("%d requests, %d created and listed, %d removed, %d differences, %d connections "+
			"elsewhere, smoke test %v, session held %v",
			got.Requests, got.Created, got.Removed, len(got.Harm), got.Packets, got.Smoke, got.Held)
		met := len(got.Harm) == 0 && got.Packets == 0 && got.Smoke && got.Held
		rows = append(rows, table.Row{Measure: "ordinary " + name, Floor: "left as it was", Measured: value,
			Met: table.Verdict(met)})
		if !met {
			failed = errors.Join(failed, fmt.Errorf("%s was not left as it was: %s", name, value))
		}
	}
	text, err := json.MarshalIndent(results, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(b.out, "ordinary.json"), text, 0o600)
	}
	return rows, errors.Join(failed, err)
}

// scanOrdinary sets an application up, scans it and compares.
func (b *bench) scanOrdinary(ctx context.Context, name string) (*ordinaryResult, error) {
	a, vars, err := startOrdinary(ctx, name)
	if a != nil {
		defer a.stopAll()
	}
	if err != nil {
		return nil, err
	}
	// The dump is text, one line for each stored record or file.
	before, err := a.runScript("dump")
	if err != nil {
		return nil, err
	}
	// A failure before the scan is one of the set-up and not of the scan.
	if out, err := a.runScript("smoke"); err != nil {
		return nil, fmt.Errorf("smoke test before the scan: %w: %s", err, out)
	}
	// The application may have tried to reach its makers at the start.
	packets := a.countPackets()
	target := filepath.Join(b.out, name+"-target.json")
	base := "http://127.0.0.1:" + strconv.Itoa(a.port)
	// vars are lines of the script: the needed programs and files, the path of the sign-in form,
	// user, password, VOLATILE, an identity in JSON for other kinds of sign-in, and CHANGING.
	auth := json.RawMessage(vars[5])
	if len(auth) == 0 {
		if auth, err = json.Marshal(map[string]any{"name": "administrator",
			"form": map[string]string{"url": base + vars[1], "user": vars[2], "password": vars[3]}}); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(plan{URL: base + "/", Identities: []any{auth}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(target, text, 0o600); err != nil {
		return nil, err
	}
	report := filepath.Join(b.out, name+".json")
	merlon := a.networkCommand(ctx, b.merlon, "dast", base+"/", "--target", target, "--format", "json", "--fail-on",
		"none",
		"--time", cmp.Or(b.time, ordinaryTime).String(), "--browser", b.browser)
	var said bytes.Buffer
	merlon.Stderr = &said
	out, err := merlon.Output()
	if err != nil && !slices.Contains(reported, merlon.ProcessState.ExitCode()) {
		return nil, fmt.Errorf("merlon: %w: %s", err, said.Bytes()[max(0, said.Len()-400):])
	}
	if err := errors.Join(os.WriteFile(report, out, 0o600), os.WriteFile(filepath.Join(b.out, name+".log"),
		said.Bytes(), 0o600)); err != nil {
		return nil, err
	}
	after, err := a.runScript("dump")
	if err != nil {
		return nil, fmt.Errorf("dump after the scan: %w", err)
	}
	for kind, text := range map[string][]byte{"before": before, "after": after} {
		if err := os.WriteFile(filepath.Join(b.out, name+"-"+kind+".txt"), text, 0o600); err != nil {
			return nil, err
		}
	}
	got := &ordinaryResult{Application: name, Packets: a.countPackets() - packets}
	_, smoke := a.runScript("smoke")
	got.Smoke = smoke == nil
	return got, got.judgeDumps(report, string(before), string(after), vars[4], vars[6])
}

// judgeDumps reads the report, and compares the dumps. Lines that match volatile may be added, and
// lines that match changing may be lost.
func (o *ordinaryResult) judgeDumps(file, before, after, volatile, changing string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r struct {
		Findings   []json.RawMessage `json:"findings"`
		Operations []struct {
			Requests int `json:"requests"`
			Created  []struct {
				Mark    string `json:"mark"`
				Removed bool   `json:"removed"`
			} `json:"created"`
		} `json:"operations"`
		Analyzers []struct {
			Reasons []struct {
				Message string `json:"message"`
			} `json:"reasons"`
		} `json:"analyzers"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	o.Findings, o.Held = len(r.Findings), true
	// Each object that a scan creates contains a mark, so that its owner can find it.
	marks := map[string]bool{}
	for _, op := range r.Operations {
		o.Requests += op.Requests
		for _, c := range op.Created {
			o.Created++
			marks[c.Mark] = true
			if c.Removed {
				o.Removed++
			}
		}
	}
	for _, a := range r.Analyzers {
		for _, reason := range a.Reasons {
			// A lost session means that the rest was scanned as a guest.
			if strings.Contains(reason.Message, "session of") || strings.Contains(reason.Message, "sign-in") {
				o.Held = false
			}
		}
	}
	addable, err := regexp.Compile(volatile)
	if err != nil {
		return err
	}
	losable, err := regexp.Compile(cmp.Or(changing, "^$")) // no line is empty
	if err != nil {
		return err
	}
	// As multisets: the order of a dump may change.
	old, now := countLines(before), countLines(after)
	for line, n := range old {
		if now[line] < n && !losable.MatchString(line) {
			o.Harm = append(o.Harm, "- "+line)
		}
	}
	for line, n := range now {
		if old[line] >= n || addable.MatchString(line) {
			continue
		}
		listed := false
		for mark := range marks {
			listed = listed || strings.Contains(line, mark)
		}
		if !listed {
			o.Harm = append(o.Harm, "+ "+line)
		}
	}
	slices.Sort(o.Harm)
	return nil
}

// countLines counts equal lines, to compare dumps as multisets.
func countLines(text string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out[line]++
		}
	}
	return out
}

// startOrdinary sets an application up in a network of its own.
func startOrdinary(ctx context.Context, name string) (*ordinaryApp, []string, error) {
	script, err := filepath.Abs(filepath.Join("test", "dast", "ordinary", "run.sh"))
	if err != nil {
		return nil, nil, err
	}
	out, err := exec.Command(script, name, "vars").Output()
	vars := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(vars) != 7 {
		return nil, nil, fmt.Errorf("%s %s vars: %w", script, name, err)
	}
	// A name is a program on the path, a path a file that a package installs.
	for _, need := range strings.Fields(vars[0]) {
		if _, err := exec.LookPath(need); err != nil && !strings.HasPrefix(need, "/") {
			return nil, nil, err
		}
		if _, err := os.Stat(need); err != nil && strings.HasPrefix(need, "/") {
			return nil, nil, err
		}
	}
	a := &ordinaryApp{name: name, script: script}
	if a.dir, err = os.MkdirTemp("", "ordinary-"+name+"-"); err != nil {
		return nil, nil, err
	}
	if a.port, err = freePort(); err != nil {
		return a, nil, err
	}
	// The application runs without rights and must be able to write here.
	if err := os.Chown(a.dir, 65534, 65534); err != nil {
		return a, nil, err
	}
	// The process only holds the namespace open.
	a.space = exec.CommandContext(ctx, "unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec "+
		"sleep 86400")
	ready := &line{done: make(chan struct{})}
	a.space.Stdout, a.space.Stderr = ready, os.Stderr
	if err := a.space.Start(); err != nil {
		return a, nil, err
	}
	select {
	case <-ready.done:
	case <-time.After(10 * time.Second):
		return a, nil, errors.New("no network of its own")
	}
	if out, err := a.runScript("setup"); err != nil {
		return a, nil, fmt.Errorf("setup: %w: %s", err, out)
	}
	a.server = a.scriptCommand(context.Background(), "serve")
	// A session of its own, so that the server and its children can be ended together.
	a.server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := a.server.Start(); err != nil {
		return a, nil, err
	}
	for range 300 {
		if a.networkCommand(ctx, "curl", "-s", "-o", "/dev/null", "http://127.0.0.1:"+strconv.Itoa(a.port)+
			"/").Run() == nil {
			_, err = a.runScript("ready")
			return a, vars, err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return a, nil, errors.New("it is not up after 60 s")
}

// A line waits for the first thing that is written.
type line struct {
	done chan struct{}
	once bool
}

// Write signals the first output of a program: it is ready.
func (l *line) Write(p []byte) (int, error) {
	if !l.once {
		l.once = true
		close(l.done)
	}
	return len(p), nil
}

// networkCommand is a program in the application's network.
func (a *ordinaryApp) networkCommand(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "nsenter", append([]string{"--net", "--target", strconv.Itoa(a.space.Process.Pid)},
		args...)...)
}

// scriptCommand is a function of the application's script, as a user without rights.
func (a *ordinaryApp) scriptCommand(ctx context.Context, what string) *exec.Cmd {
	c := a.networkCommand(ctx, "setpriv", "--reuid="+nobody, "--regid="+nobody, "--clear-groups", "--no-new-privs",
		a.script,
		a.name, what)
	c.Dir = a.dir
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=" +
		a.dir, "TMPDIR=" + a.dir, "DIR=" + a.dir, "PORT=" + strconv.Itoa(a.port)}
	return c
}

// runScript runs a function of the script to its end.
func (a *ordinaryApp) runScript(what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	c := a.scriptCommand(ctx, what)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return append(stdout.Bytes(), stderr.Bytes()...), fmt.Errorf("%s %s: %w", a.name, what, err)
	}
	return stdout.Bytes(), nil
}

// countPackets is how many connections and datagrams looked for a way to elsewhere.
// OutNoRoutes of /proc/net/snmp (RFC 1213, ipOutNoRoutes) counts packets without a route; -1 when
// it cannot be read.
func (a *ordinaryApp) countPackets() int {
	out, err := a.networkCommand(context.Background(), "cat", "/proc/net/snmp").Output()
	if err != nil {
		return -1
	}
	var names []string
	for row := range strings.Lines(string(out)) {
		fields := strings.Fields(row)
		switch {
		case len(fields) == 0 || fields[0] != "Ip:":
		case names == nil:
			// The first line "Ip:" has the names, the second the values.
			names = fields
		case len(fields) == len(names):
			n, _ := strconv.Atoi(fields[max(0, slices.Index(names, "OutNoRoutes"))]) // the kernel writes numbers
			return n
		}
	}
	return -1
}

// stopAll ends everything, and throws the folder away.
func (a *ordinaryApp) stopAll() {
	if a.server != nil && a.server.Process != nil {
		_ = syscall.Kill(-a.server.Process.Pid, syscall.SIGKILL) // it may be gone
		_ = a.server.Wait()                                      // it was killed
	}
	if a.space != nil && a.space.Process != nil {
		_ = a.space.Process.Kill() // likewise
		_ = a.space.Wait()         // likewise
	}
	if err := os.RemoveAll(a.dir); err != nil {
		fmt.Fprintln(os.Stderr, "dast:", err)
	}
}
