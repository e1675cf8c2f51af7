package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/server"
)

func TestAdminUser(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	b := server.Bootstrap{Email: "ada@example.org", Organization: "Org", Team: "Team", Project: "Project"}
	if _, err := b.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	host := Host{Stdout: &out}
	want := func(step, text string, err error) {
		t.Helper()
		if err != nil || !strings.Contains(out.String(), text) {
			t.Errorf("%s: %v, %q; want %q", step, err, out.String(), text)
		}
		out.Reset()
	}
	const address = "Ada@example.org"
	list := userSessionsCommand{Store: c, Address: address}
	want("list", "token  bootstrap", list.Run(t.Context(), host))
	want("disable", "is disabled", userDisableCommand{Store: c, Address: address}.Run(t.Context(), host))
	want("list a disabled one", "disabled since", list.Run(t.Context(), host))
	want("enable", "is enabled", userEnableCommand{Store: c, Address: address}.Run(t.Context(), host))
	list.End = true
	want("end", "deleted: 1 personal access tokens", list.Run(t.Context(), host))
	if err := (userDisableCommand{Store: c, Address: "eve@example.org"}).Run(t.Context(), host); !errs.Is(err,
		errs.NotFound) {
		t.Errorf("nobody: %v", err)
	}
}
