package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestScanUnderLoad scans a tree that is too large to be analysed whole, with one
// processor and with all of them while others are busy: the reports are equal, byte by
// byte, but for when they were made and how long it took.
func TestScanUnderLoad(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "app.js"), tangle(60, 6), 0o600); err != nil {
		t.Fatal(err)
	}
	merlon := program(t)
	idle := report(t, merlon, tree, "1", "--parallel", "1")
	if !bytes.Contains(idle, []byte("% of the program's instructions")) ||
		!bytes.Contains(idle, []byte(`"fingerprint"`)) {
		t.Fatalf("nothing was cut, or nothing found: %.2000s", idle)
	}
	done := make(chan struct{})
	for range 2 * runtime.NumCPU() {
		go func() {
			for n := uint(1); ; n++ {
				select {
				case <-done:
					return
				default:
					_ = fmt.Sprint(n)
				}
			}
		}()
	}
	busy := report(t, merlon, tree, "16", "--parallel", "16")
	close(done)
	if !bytes.Equal(idle, busy) {
		a, b := strings.Split(string(idle), "\n"), strings.Split(string(busy), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("the reports have %d and %d lines; the first that differs is %d:\n%s\n%s", len(a), len(b), i+1,
					a[i], b[i])
			}
		}
		t.Fatalf("the reports have %d and %d lines", len(a), len(b))
	}
}

// report scans a tree with so many processors and returns the report without its times.
func report(t *testing.T, merlon, tree, processors string, flags ...string) []byte {
	t.Helper()
	cmd := exec.Command(merlon,
		append([]string{"scan", tree, "--analyses", "sast", "--format", "json", "--no-cache", "--fail-on", "none"},
			flags...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors)
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 2 { // not everything was looked at
		t.Fatalf("exit code %d: %v", code, err)
	}
	var read struct {
		Findings, Rules, Operations, Summary json.RawMessage
		Scan                                 map[string]any
		Analyzers                            []map[string]any
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	delete(read.Scan, "started")
	for _, a := range read.Analyzers {
		delete(a, "duration")
	}
	text, err := json.MarshalIndent(read, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tangle returns a program of functions that call each other with what they get: no
// order of them is the right one.
func tangle(functions, calls int) []byte {
	var b bytes.Buffer
	b.WriteString("const { exec } = require('child_process'); const app = require('express')(); const store = {};\n")
	for i := range functions {
		fmt.Fprintf(&b, "function f%d(a, b, g) {\n", i)
		for j := range calls {
			to := (i*7 + j*13 + 1) % functions
			fmt.Fprintf(&b, "  if (a.x%d) { store.k%d = f%d(a.x%d, b.y%d, (v) => g(v.z%d + b, f%d(v, a, g))) }\n",
				j, (i+j)%50, to, j, (j+i)%9, j, (to+3)%functions)
		}
		fmt.Fprintf(&b, "  exec(store.k%d); return a.x + b + store.k%d;\n}\n", i%50, (i+1)%50)
	}
	b.WriteString("app.get('/', (req, res) => { f0(req.query, req.body, (v) => res.send(v)); });\n")
	return b.Bytes()
}
