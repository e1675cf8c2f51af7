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
		"by default": {nil, "sign-up is off: only people who are invited can make an account (open it: --sign-up; " +
			"first administrator: merlon admin bootstrap)"},
		"opened": {[]string{"--sign-up"}, "sign-up is open: anybody with an e-mail address can make an account"},
		"closed": {[]string{"--no-sign-up"}, "sign-up is off"},
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
