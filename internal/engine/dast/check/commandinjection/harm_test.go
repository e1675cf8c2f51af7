package commandinjection

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"merlon/internal/engine/dast/activescan"
)

// payloads are all that the check sends for a value, by what they are.
func payloads(v string) map[string]string {
	out := map[string]string{}
	for _, f := range forms {
		out[f.name] = f.make(v, f.command("abcd", "efgh", 70_001, 50_003))
	}
	for i, wait := range waits {
		out[fmt.Sprintf("wait %d", i)] = wait(v, 1)
	}
	for i, call := range calling {
		out[fmt.Sprintf("call %d", i)] = call(v, activescan.OASTPayload{URL: "http://127.0.0.1:1/x"})
	}
	return out
}

// No payload makes a program wait for standard input, run without end, or write a file,
// whichever way a program gets it: as a part of a command line, within quotes, as a whole
// command, or split into arguments without a shell. Standard input stays open and is empty.
func TestPayloadsEnd(t *testing.T) {
	contexts := map[string]func(v string) []string{
		"argument of cat":        func(v string) []string { return []string{"sh", "-c", "cat " + v} },
		"within single quotes":   func(v string) []string { return []string{"sh", "-c", "cat '" + v + "'"} },
		"within double quotes":   func(v string) []string { return []string{"sh", "-c", `cat "` + v + `"`} },
		"whole command":          func(v string) []string { return []string{"sh", "-c", v} },
		"in the middle":          func(v string) []string { return []string{"sh", "-c", "cat " + v + " /dev/null"} },
		"arguments, no shell":    func(v string) []string { return append([]string{"cat"}, strings.Fields(v)...) },
		"one argument, no shell": func(v string) []string { return []string{"cat", v} },
		"command, no shell":      func(v string) []string { return strings.Fields(v) },
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, 16) // most of them sleep
	for _, value := range []string{"nosuchfile", "NAME=nosuchfile"} {
		for what, payload := range payloads(value) {
			for where, command := range contexts {
				slots <- struct{}{}
				dir := t.TempDir()
				all.Go(func() {
					defer func() { <-slots }()
					if harm := harms(t.Context(), dir, command(payload)); harm != "" {
						t.Errorf("%s, %s: %s", what, where, harm)
					}
				})
			}
		}
	}
	all.Wait()
}

// harms runs a command in an empty folder and says what it does besides ending; empty: nothing.
func harms(ctx context.Context, dir string, args []string) string {
	in, held, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer func() { _, _ = in.Close(), held.Close() }() // nothing was written
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir, c.Stdin, c.Env = dir, in, []string{"PATH=/usr/bin:/bin"}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said // Run waits for all processes that hold them
	_ = c.Run()                       // most fail
	if ctx.Err() != nil {
		return fmt.Sprintf("%q does not end: %s", args, said.String())
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		return fmt.Sprintf("%q writes %v (%v)", args, files, err)
	}
	return ""
}
