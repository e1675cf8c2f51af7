package faults

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"merlon/internal/blob"
	"merlon/internal/registry/registrytest"
	"merlon/internal/sandbox"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
	"merlon/internal/worker"
)

// TestMain makes the test binary two programs: the tests, and a worker's process.
func TestMain(m *testing.M) {
	sandbox.Init()
	registrytest.Init()
	if os.Getenv(workerVariable) != "" {
		os.Exit(workerMain())
	}
	// The tests wait more than they work: for leases to run out.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	storetest.Main(m, func() { _ = os.RemoveAll(built.dir) }) // a temporary folder
}

// built is the program, without the race detector of the tests: workers run it
// for their scans.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// program builds the program, once, and returns its path.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "merlon-faults-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", built.dir, "merlon/cmd/merlon").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "merlon")
}

// A place says where a site is.
type place struct {
	SQLite   string // path of the database; empty for PostgreSQL
	Postgres string // URL of the database
	Blobs    string // URL
	Scratch  string // folder
	Program  string // that workers run
}

func (p place) open(ctx context.Context, now func() time.Time) (*store.DB, error) {
	o := store.Options{Region: storetest.Region, Now: now}
	if p.SQLite != "" {
		return sqlite.Open(ctx, p.SQLite, o)
	}
	return postgres.Open(ctx, p.Postgres, o)
}

// workerVariable holds the place as JSON and makes the test binary a worker.
const workerVariable = "MERLON_FAULTS_WORKER"

// workerMain is a worker's process.
func workerMain() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := work(ctx, log); err != nil {
		log.Error("worker", "error", err)
		return 1
	}
	return 0
}

func work(ctx context.Context, log *slog.Logger) error {
	var p place
	if err := json.Unmarshal([]byte(os.Getenv(workerVariable)), &p); err != nil {
		return err
	}
	// What the worker starts is no worker.
	if err := os.Unsetenv(workerVariable); err != nil {
		return err
	}
	db, err := p.open(ctx, time.Now)
	if err != nil {
		return err
	}
	blobs, err := blob.Open(ctx, p.Blobs)
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Config{
		Jobs: db, Runs: db, DB: db.Write, Pool: db.Pool, Blobs: blobs, Ingest: triage.New(db).Ingest,
		Scratch: p.Scratch, Program: p.Program, Slots: 2, Log: log,
	})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// A process is a worker's process.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  string // file of what it says
	done chan error
	dead bool
}

// worker starts a worker's process; it is stopped when the test ends.
func (s *site) worker() *process {
	s.t.Helper()
	text, err := json.Marshal(s.place)
	s.must(err)
	self, err := os.Executable()
	s.must(err)
	s.workers++
	p := &process{t: s.t, cmd: exec.Command(self), log: filepath.Join(s.dir, fmt.Sprintf("worker-%d.log", s.workers)),
		done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), workerVariable+"="+string(text))
	out, err := os.Create(p.log)
	s.must(err)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	s.must(p.cmd.Start())
	go func() { p.done <- p.cmd.Wait(); _ = out.Close() }()
	s.t.Cleanup(func() {
		p.signal(syscall.SIGTERM)
		if !p.dead {
			select {
			case <-p.done:
			case <-time.After(30 * time.Second):
				s.t.Error("a worker does not stop")
				_ = p.cmd.Process.Kill()
			}
		}
		if s.t.Failed() {
			text, _ := os.ReadFile(p.log)
			s.t.Logf("%s:\n%s", p.log, text)
		}
	})
	return p
}

func (p *process) signal(sig syscall.Signal) {
	if !p.dead {
		_ = p.cmd.Process.Signal(sig) // it may have ended
	}
}

// kill ends the process without a word, and waits until it is gone.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.done
	p.dead = true
}

// stopScan waits until the process runs a scan, stops the scan where it is, and
// returns its process id.
func (p *process) stopScan() int {
	p.t.Helper()
	return stopScanOf(p.t, p.cmd.Process.Pid, "")
}

// stopScanOf does so with a scan below a folder.
func stopScanOf(t *testing.T, pid int, below string) int {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		for _, pid := range children(pid) {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
			if strings.Contains(string(cmdline), "\x00scan\x00") && strings.Contains(string(cmdline), below) {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err == nil {
					return pid
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the worker never ran a scan")
	return 0
}

// resume lets a stopped scan go on.
func resume(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// children returns the processes that the process started, and that these did.
func children(pid int) []int {
	var out []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have ended
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
				out = append(out, children(child)...)
			}
		}
	}
	return out
}

// gone waits until there is no such process, or only what is left of it.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d outlives its worker", pid)
}
