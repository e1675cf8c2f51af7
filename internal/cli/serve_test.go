package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A firstOutput ends the run at the first text that it gets, and keeps it.
type firstOutput struct {
	strings.Builder
	stop context.CancelFunc
}

// Write implements io.Writer.
func (o *firstOutput) Write(p []byte) (int, error) {
	defer o.stop()
	return o.Builder.Write(p)
}

// TestServeSaysWhoCanSignUp starts a new deployment: sign-up is off unless the operator
// opens it, and the first lines that it prints say so.
func TestServeSaysWhoCanSignUp(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"by default": {nil, "Sign-up is closed: only people who are invited can create an account (--sign-up " +
			"opens it; " +
			"merlon admin bootstrap creates the first administrator)."},
		"opened": {[]string{"--sign-up"}, "Sign-up is open: anybody with an e-mail address can create an account"},
		"closed": {[]string{"--no-sign-up"}, "Sign-up is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			out := &firstOutput{stop: stop}
			var log strings.Builder
			args := append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0",
				"--dast-browser", "none"}, c.args...)
			code := Run(ctx, args, Host{Stdin: strings.NewReader(""), Stdout: out, Stderr: &log,
				Getenv: func(string) string { return "" }})
			if code != ExitOK || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit %d, printed %q, want %q; log: %s", code, out.String(), c.want, &log)
			}
		})
	}
}
