package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/livetarget"
	"merlon/internal/mail"
	"merlon/internal/oidc/grant"
	"merlon/internal/registry/credential"
	"merlon/internal/run"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/tenant"
)

// This file rotates the master key.

// Names under which the database remembers what derived keys are made of, and which keys
// have sealed.
const (
	rootName  = "master-key-root"
	usedName  = "master-key-used/" // and the fingerprint
	rootLabel = "root of derived keys"
)

// recallRoot has the box derive keys from what it derived them from before the first
// rotation.
func recallRoot(ctx context.Context, db *store.DB, box *seal.Box) error {
	text, err := db.Recall(ctx, rootName)
	if err != nil || text == "" {
		return err
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("root of derived keys: %w", err)
	}
	root, err := box.Open(sealed, rootLabel)
	if err != nil {
		return fmt.Errorf("root of derived keys: %w", err)
	}
	box.SetRoot(root)
	return nil
}

// A Rotation works on the master key of a deployment and on what is sealed under it. The
// service may run meanwhile: it notices when the file of the key changes.
type Rotation struct {
	db  *store.DB
	box *seal.Box
}

// OpenRotation opens the deployment's database and master key.
func OpenRotation(ctx context.Context, c config.Store) (*Rotation, error) {
	db, err := OpenStore(ctx, c)
	if err != nil {
		return nil, err
	}
	box, err := findBox(ctx, c, db)
	if err == nil && box == nil {
		err = errs.E(errs.Invalid, "there is no master key in the data folder: set master-key-file")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Rotation{db, box}, nil
}

// Close closes the database.
func (r *Rotation) Close() error { return r.db.Close() }

// Add puts a new key into the file, which opens and does not seal yet. When the file is on
// every machine, Rotate may follow.
func (r *Rotation) Add() error { return r.box.Add() }

// Rotate has the last key of the file seal, which has not sealed before, and makes one when
// there is none. Then it seals everything again. It can be repeated after a failure.
func (r *Rotation) Rotate(ctx context.Context) (int, error) {
	current, err := r.db.Recall(ctx, fingerprintName)
	if err != nil {
		return 0, err
	}
	prints := r.box.Fingerprints()
	if prints[0] == current { // else an earlier attempt came further
		if err := r.promoteKey(ctx, prints); err != nil {
			return 0, err
		}
	}
	next := r.box.Fingerprint()
	if _, err := r.db.Once(ctx, usedName+next, "yes"); err != nil {
		return 0, err
	}
	if err := r.db.Replace(ctx, fingerprintName, current, next); err != nil {
		return 0, err
	}
	return r.Reseal(ctx)
}

// promoteKey puts the last key of the file first. It records the keys as used before the
// file changes: if the process dies in between, a repeated rotation does not promote a key
// that has sealed already.
func (r *Rotation) promoteKey(ctx context.Context, prints []string) error {
	if _, err := r.db.Once(ctx, usedName+prints[0], "yes"); err != nil {
		return err
	}
	// Derived keys (uploads, ownership, audit seal) must not change with the master key. Their
	// root is stored before the first rotation, sealed under the master key.
	if _, err := r.db.Once(ctx, rootName, r.sealedRoot()); err != nil {
		return err
	}
	if len(prints) == 1 {
		if err := r.box.Add(); err != nil {
			return err
		}
	} else if used, err := r.db.Recall(ctx, usedName+prints[len(prints)-1]); err != nil {
		return err
	} else if used != "" {
		return errs.E(errs.Conflict, "the last key of the file has sealed before: add a new one, or drop old "+
			"ones first")
	}
	return r.box.Promote()
}

// sealedRoot returns the root of derived keys, sealed under the first key, as text.
func (r *Rotation) sealedRoot() string {
	return base64.StdEncoding.EncodeToString(r.box.Seal(r.box.Root(), rootLabel))
}

// batchSizeOf is how many texts are read at once; one of a target, which may have megabytes.
func batchSizeOf(c store.SealedColumn) int {
	if c.Table == "target" || c.Table == "run_kept" {
		return 1
	}
	return 100
}

// Reseal seals what is sealed under other keys under the first one, in batches, and
// returns how many texts it has sealed. What is sealed already is left alone.
func (r *Rotation) Reseal(ctx context.Context) (int, error) {
	if len(r.box.Fingerprints()) == 1 {
		return 0, nil
	}
	if err := r.resealRoot(ctx); err != nil {
		return 0, err
	}
	done := 0
	for _, c := range store.SealedColumns {
		if c.Fixed {
			continue
		}
		for {
			list, err := r.db.SealedOtherwise(ctx, c, r.box.Prefix(), batchSizeOf(c))
			if err != nil {
				return done, fmt.Errorf("read sealed texts of %s: %w", c.Table, err)
			}
			if len(list) == 0 {
				break
			}
			for _, t := range list {
				if err := r.resealText(ctx, c, t); err != nil {
					return done, fmt.Errorf("%s %v: %w", c.Table, t.Key, err)
				}
				done++
			}
		}
	}
	return done, nil
}

// resealText opens one text with whichever key has sealed it and seals it under the first.
func (r *Rotation) resealText(ctx context.Context, c store.SealedColumn, t store.SealedText) error {
	label, err := labelOf(c, t)
	if err != nil {
		return err
	}
	plain, err := r.box.Open(t.Sealed, label)
	if err != nil {
		return err
	}
	return r.db.Reseal(ctx, c, t, r.box.Seal(plain, label))
}

// resealRoot does the same with the root of derived keys; before a first rotation there is
// none.
func (r *Rotation) resealRoot(ctx context.Context) error {
	old, err := r.db.Recall(ctx, rootName)
	if err != nil || old == "" {
		return err
	}
	if sealed, err := base64.StdEncoding.DecodeString(old); err == nil && bytes.HasPrefix(sealed, r.box.Prefix()) {
		return nil
	}
	return r.db.Replace(ctx, rootName, old, r.sealedRoot())
}

// labelOf returns what binds a text to its place.
func labelOf(c store.SealedColumn, t store.SealedText) (string, error) {
	switch c.Table {
	case "oidc_key":
		return grant.Key{ID: t.Key[0]}.Label(), nil
	case "mail_outbox":
		return mail.Label(t.Key[0]), nil
	case "registry_credential":
		return credential.Label(tenant.OrganizationID(t.With[0]), credential.Kind(t.With[1]), t.With[2]), nil
	case "run_kept":
		return keptLabel(&run.Run{ID: run.ID(t.Key[0])}), nil
	case "target":
		return (&livetarget.Target{ID: livetarget.ID(t.Key[0]), Organization: tenant.OrganizationID(t.With[0]),
			Project: tenant.ProjectID(t.With[1])}).Label(), nil
	}
	return "", fmt.Errorf("nobody knows what binds texts of %s to their place", c.Table)
}

// Drop removes the old keys from the file, when nothing is sealed under them any more.
func (r *Rotation) Drop(ctx context.Context) error {
	current, err := r.db.Recall(ctx, fingerprintName)
	if err != nil {
		return err
	}
	prints := r.box.Fingerprints()
	switch {
	case len(prints) == 1:
		return errs.E(errs.Conflict, "the file has only one key")
	case prints[0] != current:
		return errs.E(errs.Conflict, "the first key of the file is not the one that the deployment seals with: "+
			"rotate first")
	}
	if root, err := r.db.Recall(ctx, rootName); err != nil {
		return err
	} else if sealed, err := base64.StdEncoding.DecodeString(root); err != nil ||
		!bytes.HasPrefix(sealed, r.box.Prefix()) {
		return errs.E(errs.Conflict, "what derived keys are made of is sealed under an old key: run merlon admin "+
			"key reseal")
	}
	for _, c := range store.SealedColumns {
		n, err := r.db.CountSealedOtherwise(ctx, c, r.box.Prefix())
		if err != nil {
			return err
		}
		if n > 0 && c.Fixed {
			return errs.E(errs.Conflict, "%d responses to requests with an Idempotency-Key are sealed under an old "+
				"key: they are removed within 24 hours", n)
		}
		if n > 0 {
			return errs.E(errs.Conflict, "%d texts of %s are sealed under an old key: run merlon admin key reseal", n,
				c.Table)
		}
	}
	return r.box.Drop()
}
