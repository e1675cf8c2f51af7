package faults

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDemo runs the first command of a new user twice: it scans the sample
// application the first time, and shows its findings both times.
func TestDemo(t *testing.T) {
	data := filepath.Join(folder(t), "data")
	for _, start := range []struct {
		name    string
		scanned bool
	}{{"first start", true}, {"second start", false}} {
		out := runDemo(t, program(t), data)
		if got := strings.Contains(out, "Scanned the sample application"); got != start.scanned {
			t.Errorf("%s: scanned %v, want %v:\n%s", start.name, got, start.scanned, out)
		}
		at := 0
		for _, want := range []string{ // in this order
			"URGENT priority\n",
			"OS command injection\n            storefront/server.js:9\n",
			"SQL injection\n            shop/database.py:9\n              shop/routes.py:13  ",
			"\n              shop/catalogue.py:8  ",
			"\n              shop/database.py:9  return db.execute(",
			"11 findings: 6 critical, 2 high, 3 medium, 0 low.",
			"Open http://127.0.0.1:",
		} {
			i := strings.Index(out[at:], want)
			if i < 0 {
				t.Fatalf("%s: no %q after %d bytes of\n%s", start.name, want, at, out)
			}
			at += i
		}
		if strings.Contains(out, "level=") {
			t.Errorf("%s: the output has a line of the log:\n%s", start.name, out)
		}
	}
}

// runDemo runs merlon demo until it has printed the address to open, and returns what
// it wrote to standard output and standard error.
func runDemo(t *testing.T, program, data string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out := &watched{until: "Open http", seen: cancel}
	cmd := exec.CommandContext(ctx, program, "demo", "--data", data, "--listen", "127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = out, out // one writer: no more than one goroutine writes
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		t.Fatalf("merlon demo: %v\n%s", err, &out.text)
	}
	return out.text.String()
}

// watched is a buffer that calls seen when the text has been written.
type watched struct {
	text  bytes.Buffer // not embedded: its ReadFrom would pass Write by
	until string
	seen  func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if i := strings.Index(w.text.String(), w.until); i >= 0 && strings.Contains(w.text.String()[i:], "\n") {
		w.seen()
	}
	return n, err
}
