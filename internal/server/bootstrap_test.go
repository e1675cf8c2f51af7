package server

import (
	"log/slog"
	"path/filepath"
	"testing"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/identity"
)

func TestBootstrapMakesATenantOnce(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	b := Bootstrap{Email: "Ada@Example.org", Organization: "Org", Team: "Team", Project: "Project"}
	made, err := b.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if made.Email != "ada@example.org" || len(made.Password) < 16 || made.PersonalAccessToken == "" ||
		made.ProjectID == "" {
		t.Errorf("made %+v", made)
	}
	if _, err := b.Run(t.Context(), c); !errs.Is(err, errs.Conflict) {
		t.Errorf("the same address again: %v, want a conflict", err)
	}
	if _, err := (Bootstrap{Email: "nobody"}).Run(t.Context(), c); !errs.Is(err, errs.Invalid) {
		t.Errorf("not an address: %v, want an invalid error", err)
	}
}

// TestBootstrapTakesAPassword lets the operator choose the first password, unless it is
// easy to guess.
func TestBootstrapTakesAPassword(t *testing.T) {
	c := config.Store{Data: filepath.Join(t.TempDir(), "data"), Region: "test"}
	b := Bootstrap{Email: "ada@example.org", Organization: "Org", Team: "Team", Project: "Project",
		Password: "Administrator2026"}
	if _, err := b.Run(t.Context(), c); !errs.Is(err, errs.Invalid) {
		t.Errorf("a weak password: %v, want an invalid error", err)
	}
	b.Password = "four rusty trombones"
	made, err := b.Run(t.Context(), c)
	if err != nil || made.Password != "" || made.PersonalAccessToken == "" {
		t.Fatalf("made %+v, %v", made, err)
	}
	db, err := OpenKeyed(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // nothing is written
	service := identity.New(identity.Options{Store: db, Region: db.Region, Now: db.Now})
	if _, err := service.SignIn(t.Context(), identity.Credentials{Email: b.Email, Password: b.Password,
		IP: "192.0.2.1"}); err != nil {
		t.Errorf("sign in: %v", err)
	}
}

func TestADatabaseBelongsToARegionAndAKey(t *testing.T) {
	c := config.Store{Data: t.TempDir(), Region: "eu"}
	d, err := openDeployment(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	d.closeAll(slog.New(slog.DiscardHandler))

	other := c
	other.Region = "us"
	if _, err := openDeployment(t.Context(), other); !errs.Is(err, errs.Invalid) {
		t.Errorf("another region: %v, want an invalid error", err)
	}
	other = c
	other.MasterKeyFile = filepath.Join(t.TempDir(), "other.key")
	if _, err := openDeployment(t.Context(), other); !errs.Is(err, errs.Invalid) {
		t.Errorf("another master key: %v, want an invalid error", err)
	}
	other = c
	other.BlobURL = "file://" + t.TempDir()
	if _, err := openDeployment(t.Context(), other); !errs.Is(err, errs.Invalid) {
		t.Errorf("another blob storage: %v, want an invalid error", err)
	}
	if _, err := openWorker(t.Context(), other); !errs.Is(err, errs.Invalid) {
		t.Errorf("a worker at another blob storage: %v, want an invalid error", err)
	}
	w, err := openWorker(t.Context(), c)
	if err != nil {
		t.Fatalf("a worker at the server's storage: %v", err)
	}
	w.closeAll(slog.New(slog.DiscardHandler))
}

func TestAWorkerNeedsAServerFirst(t *testing.T) {
	c := config.Store{Data: t.TempDir(), Region: "eu"}
	if _, err := openWorker(t.Context(), c); !errs.Is(err, errs.Unavailable) {
		t.Errorf("worker: %v, want an unavailable error", err)
	}
	// Asking has left nothing behind that would keep a server from starting.
	d, err := openDeployment(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	d.closeAll(slog.New(slog.DiscardHandler))
}
