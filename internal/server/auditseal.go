package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"merlon/internal/audit"
	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/seal"
	"merlon/internal/store"
)

// anchorFile is where a server keeps, in its data folder, with what record the
// sealing of the audit log began: whoever can write to the database only cannot
// let it begin anew.
const anchorFile = "audit.anchor"

// useAuditKey has the database seal the audit log, when there is a master key.
func useAuditKey(db *store.DB, box *seal.Box) {
	if box != nil {
		db.AuditKey = box.Derive("audit seal")
	}
}

// sealAudit begins to seal the audit log, or makes sure that it is the one whose
// sealing this server knows.
func sealAudit(ctx context.Context, c config.Store, db *store.DB, box *seal.Box) error {
	known, err := os.ReadFile(c.Path(anchorFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	useAuditKey(db, box)
	// The file is outside of the database on purpose: whoever controls the database alone cannot
	// replace both.
	if want := strings.TrimSpace(string(known)); want != "" {
		got, err := db.AuditAnchor(ctx)
		if err == nil && got != want {
			err = errs.E(errs.Invalid, "the seals of the audit log in this database are not those that %s knows: the "+
				"database was restored, replaced or changed. See docs/audit.md", c.Path(anchorFile))
		}
		return err
	}
	anchor, err := db.SealAudit(ctx)
	if err != nil {
		return err
	}
	if err := makeData(c); err != nil {
		return err
	}
	// Only the owner may read it; the contents are no secret, but nobody else should write it.
	return os.WriteFile(c.Path(anchorFile), []byte(anchor+"\n"), 0o600)
}

// OpenKeyed opens the deployment's database for an administrator's command. When
// the master key is at hand, what the command writes to the audit log is sealed.
func OpenKeyed(ctx context.Context, c config.Store) (*store.DB, error) {
	db, err := OpenStore(ctx, c)
	if err != nil {
		return nil, err
	}
	box, err := findBox(ctx, c, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	useAuditKey(db, box)
	return db, nil
}

// VerifyAudit checks the audit log of a deployment: its chains, and their seals when
// the master key is at hand.
func VerifyAudit(ctx context.Context, c config.Store) (audit.Verified, error) {
	db, err := OpenKeyed(ctx, c)
	if err != nil {
		return audit.Verified{}, err
	}
	defer func() { _ = db.Close() }() // it only read
	known, err := os.ReadFile(c.Path(anchorFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return audit.Verified{}, err
	}
	anchor, err := db.AuditAnchor(ctx)
	if err != nil {
		return audit.Verified{}, err
	}
	if want := strings.TrimSpace(string(known)); want != "" && want != anchor {
		return audit.Verified{}, fmt.Errorf("the audit log was sealed from record %s on, and the database says "+
			"otherwise: it was rewritten or replaced", strings.Fields(want)[0])
	}
	return db.VerifyAudit(ctx)
}
