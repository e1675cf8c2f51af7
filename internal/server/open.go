package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/postgres"
	"merlon/internal/store/sqlite"
)

// This file opens what every command that works on a deployment needs.

// databaseFile is the name of the embedded database in the data folder.
const databaseFile = "merlon.db"

// OpenStore opens the deployment's database and makes sure that it is that of
// the region.
func OpenStore(ctx context.Context, c config.Store) (*store.DB, error) {
	url, err := c.URL()
	if err != nil {
		return nil, err
	}
	options := store.Options{Region: c.Region}
	var db *store.DB
	if url == "" {
		err = makeData(c)
	} else if !c.DatabasePlaintext {
		err = postgres.CheckEncrypted(url)
	}
	if err == nil {
		err = checkData(c)
	}
	if err != nil {
		return nil, err
	}
	if url != "" {
		db, err = postgres.Open(ctx, url, options)
	} else {
		db, err = sqlite.Open(ctx, c.Path(databaseFile), options)
	}
	if err != nil {
		return nil, err
	}
	// IDs contain their region: a database that is opened under another name would create IDs
	// that belong nowhere.
	region, err := db.Once(ctx, "region", c.Region)
	if err == nil && region != c.Region {
		err = errs.E(errs.Invalid, "the database belongs to the region %q, not %q: set region", region, c.Region)
	}
	if err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return db, nil
}

// openBox loads the master key and makes sure that it is the deployment's.
func openBox(ctx context.Context, c config.Store, db *store.DB) (*seal.Box, error) {
	path := c.MasterKeyFile
	if path == "" {
		if err := makeData(c); err != nil {
			return nil, err
		}
		path = c.Path("master.key")
	}
	if err := checkKey(path); err != nil {
		return nil, err
	}
	box, err := seal.Load(path)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	// The first server decides which key it is. Another key would leave stored secrets
	// unreadable, and seal new ones under a key that other servers lack.
	first, err := db.Once(ctx, fingerprintName, box.Fingerprint())
	if err != nil {
		return nil, err
	}
	return sameKey(ctx, db, first, box, path)
}

// checkKey returns an Invalid error when every user of the machine may read the master
// key. Its group may, as secrets of systemd and Kubernetes are handed out.
func checkKey(path string) error {
	// The link is followed: what counts is who may read the file that it leads to.
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o007 != 0 {
		return errs.E(errs.Invalid, "the master key %s has mode %04o, so that every user of this machine may read "+
			"it: run chmod o= %q", path, info.Mode().Perm(), path)
	}
	return nil // a missing one is made, or reported where it is read
}

// fingerprintName is what the database remembers the master key's fingerprint by.
const fingerprintName = "master-key-fingerprint"

// findBox loads the master key for a worker, which makes none; nil when there is none
// in the data folder and no file was named.
func findBox(ctx context.Context, c config.Store, db *store.DB) (*seal.Box, error) {
	path := c.MasterKeyFile
	if path == "" {
		path = c.Path("master.key")
	}
	if err := checkKey(path); err != nil {
		return nil, err
	}
	box, err := seal.Read(path)
	if errors.Is(err, fs.ErrNotExist) && c.MasterKeyFile == "" {
		return nil, nil
	}
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "cannot read the master key")
	}
	first, err := db.Recall(ctx, fingerprintName)
	if err != nil {
		return nil, err
	}
	return sameKey(ctx, db, first, box, path)
}

// sameKey returns the box when the deployment's key is among its keys. What is derived
// from keys stays what it was before the first rotation.
func sameKey(ctx context.Context, db *store.DB, fingerprint string, box *seal.Box, path string) (*seal.Box, error) {
	if slices.Contains(box.Fingerprints(), fingerprint) {
		return box, recallRoot(ctx, db, box)
	}
	return nil, errs.E(errs.Invalid,
		"the master key in %s is not the one that this database was made with: set master-key-file to the "+
			"deployment's key", path)
}

// openLogger returns the log of the process. Libraries that log on their own write
// to the default logger: of them only warnings are kept. A log file stays open until
// the process ends.
func openLogger(c config.Log) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // the command line admits no other text
	}
	w := io.Writer(os.Stderr)
	if c.LogFile != "" {
		file, err := os.OpenFile(c.LogFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "cannot open log-file %s", c.LogFile)
		}
		w = file
	}
	slog.SetDefault(slog.New(logHandler(w, c.LogFormat, max(level, slog.LevelWarn))))
	return slog.New(logHandler(w, c.LogFormat, level)), nil
}

// logHandler returns the handler of a format; an unknown one is text.
func logHandler(w io.Writer, format string, level slog.Level) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}
