package oauth

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"merlon/internal/audit"
	oidcgrant "merlon/internal/oidc/grant"
	"merlon/internal/store/auditlog"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// AddDevice keeps a device authorization. It reports false when another one has
// the same user code.
func (db *Store) AddDevice(ctx context.Context, d oidcgrant.Device) (added bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, `INSERT INTO oidc_device (hash, user_hash, client_id, scopes, state, poll_every, created_at, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (user_hash) DO NOTHING`,
			d.Hash, d.UserHash, d.ClientID, strings.Join(d.Scopes, " "), string(oidcgrant.Pending),
			d.Interval.Milliseconds(), sqldb.Millis(d.CreatedAt), sqldb.Millis(d.ExpiresAt))
		if err != nil {
			return fmt.Errorf("add device authorization: %w", err)
		}
		added = n == 1
		return nil
	})
	return added, err
}

const deviceColumns = "hash, user_hash, client_id, scopes, state, user_id, auth_time, poll_every, polled_at, " +
	"created_at, expires_at, grant_id, session_id"

func scanDevice(row *sql.Row) (oidcgrant.Device, error) {
	var d oidcgrant.Device
	var scopes string
	var user sql.NullString
	var authTime, every, polled, created, expires int64
	err := row.Scan(&d.Hash, &d.UserHash, &d.ClientID, &scopes, &d.State, &user, &authTime, &every, &polled, &created,
		&expires, &d.GrantID, &d.SessionID)
	d.Scopes, d.UserID, d.Interval = strings.Fields(scopes), tenant.UserID(user.String),
		time.Duration(every)*time.Millisecond
	d.AuthTime, d.PolledAt, d.CreatedAt, d.ExpiresAt = sqldb.FromMillis(authTime), sqldb.FromMillis(polled),
		sqldb.FromMillis(created),
		sqldb.FromMillis(expires)
	return d, err
}

// DeviceByUserCode returns the device authorization whose user code has the
// hash, or a NotFound error.
func (db *Store) DeviceByUserCode(ctx context.Context, userHash string) (oidcgrant.Device, error) {
	d, err := scanDevice(db.QueryRow(ctx, "SELECT "+deviceColumns+" FROM oidc_device WHERE user_hash = ?", userHash))
	return d, db.Classify(sqldb.NotFound(err, "the device code"))
}

// PollDevice returns the device authorization whose device code has the hash, as
// it was before, and records the poll of the application that it belongs to; for
// another one it is a NotFound error. When the poll comes too soon after the last
// one the interval grows by slower.
func (db *Store) PollDevice(ctx context.Context, hash, client string,
	slower time.Duration) (d oidcgrant.Device, tooSoon bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		d, err = scanDevice(tx.QueryRow(ctx, "SELECT "+deviceColumns+" FROM oidc_device WHERE hash = ? AND "+
			"client_id = ?"+tx.DB.Dialect.ForUpdate(), hash, client))
		if err != nil {
			return sqldb.NotFound(err, "the device code")
		}
		every := d.Interval
		if tooSoon = d.State == oidcgrant.Pending && tx.Now.Before(d.PolledAt.Add(d.Interval)); tooSoon {
			every += slower
		}
		if _, err := tx.Exec(ctx, "UPDATE oidc_device SET polled_at = ?, poll_every = ? WHERE "+
			"hash = ?", sqldb.Millis(tx.Now),
			every.Milliseconds(), hash); err != nil {
			return fmt.Errorf("record poll: %w", err)
		}
		return nil
	})
	return d, tooSoon, err
}

// DecideDevice records what a person decided about a pending device
// authorization. It reports false when somebody decided before.
func (db *Store) DecideDevice(ctx context.Context, d oidcgrant.Device, by tenant.Actor) (decided bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE oidc_device SET state = ?, user_id = ?, session_id = ?, auth_time = ? WHERE "+
			"hash = ? AND state = ? AND expires_at > ?",
			string(d.State), string(by.UserID), d.SessionID, sqldb.Millis(d.AuthTime), d.Hash,
			string(oidcgrant.Pending),
			sqldb.Millis(tx.Now))
		if err != nil {
			return fmt.Errorf("decide device authorization: %w", err)
		}
		if decided = n == 1; !decided {
			return nil
		}
		action := "device.approve"
		if d.State == oidcgrant.Denied {
			action = "device.deny"
		}
		by.ClientID = d.ClientID
		return auditlog.Append(ctx, tx, audit.Event{Action: action, TargetKind: "client", Target: d.ClientID}.By(by))
	})
	return decided, err
}

// RedeemDevice exchanges an approved device authorization for a grant. It
// reports false when it was used before.
func (db *Store) RedeemDevice(ctx context.Context, hash string, t oidcgrant.Tokens) (fresh bool, err error) {
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(ctx, "UPDATE oidc_device SET state = ?, grant_id = ? WHERE hash = ? AND state = ?",
			string(oidcgrant.Redeemed), t.Grant.ID, hash, string(oidcgrant.Approved))
		if err != nil {
			return fmt.Errorf("use device code: %w", err)
		}
		if fresh = n == 1; !fresh {
			return nil
		}
		return addGrant(ctx, tx, t)
	})
	return fresh, err
}
