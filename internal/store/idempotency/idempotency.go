package idempotency

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"merlon/internal/errs"
	"merlon/internal/store/sqldb"
	"merlon/internal/tenant"
)

// How long an answer is kept, and how long a request that is under way keeps
// others with its key waiting. A process that dies leaves the key to the next
// request after that.
const (
	answerLife  = 24 * time.Hour
	requestHold = 2 * time.Minute
)

// BeginRequest claims a key for a request with the digest. It returns a holder
// when the request is to be done now, or the answer of an earlier one. Another
// request under the key is a Conflict error, with the code
// tenant.KeyReused, and one that is still under way is too, with the code
// tenant.KeyInUse.
func (db *Store) BeginRequest(ctx context.Context, k tenant.RequestKey,
	digest string) (holder string, answer []byte, err error) {
	key := hashKey(k.Key)
	err = db.Tx(ctx, func(tx *sqldb.Tx) error {
		holder, answer = "", nil
		if err := forgetRequests(ctx, tx); err != nil {
			return err
		}
		mine := uuid.NewString()
		n, err := tx.Exec(ctx, `INSERT INTO idempotent_request (actor, route, key_hash, digest, holder, held_until, answer, expires_at)
			VALUES (?, ?, ?, ?, ?, ?, NULL, ?) ON CONFLICT (actor, route, key_hash) DO NOTHING`,
			k.Actor, k.Route, key, digest, mine, sqldb.Millis(tx.Now.Add(requestHold)),
			sqldb.Millis(tx.Now.Add(answerLife)))
		if err != nil {
			return fmt.Errorf("claim key: %w", err)
		}
		if n == 1 {
			holder = mine
			return nil
		}
		var earlier, heldBy string
		var until int64
		err = tx.QueryRow(ctx, "SELECT digest, holder, held_until, answer FROM idempotent_request WHERE actor = ? "+
			"AND route = ? AND key_hash = ?"+
			db.Dialect.ForUpdate(), k.Actor, k.Route, key).Scan(&earlier, &heldBy, &until, &answer)
		switch {
		case errors.Is(err, sql.ErrNoRows): // let go of a moment ago
			return inUse()
		case err != nil:
			return fmt.Errorf("read key: %w", err)
		case earlier != digest:
			return &errs.Error{Kind: errs.Conflict, Code: tenant.KeyReused,
				Message: "the Idempotency-Key was used for another request: a new request needs a new key"}
		case heldBy == "":
			return nil
		case sqldb.Millis(tx.Now) < until:
			return inUse()
		}
		if _, err := tx.Exec(ctx, "UPDATE idempotent_request SET holder = ?, held_until = ? WHERE actor = ? AND "+
			"route = ? AND key_hash = ?",
			mine, sqldb.Millis(tx.Now.Add(requestHold)), k.Actor, k.Route, key); err != nil {
			return fmt.Errorf("take over key: %w", err)
		}
		holder = mine
		return nil
	})
	return holder, answer, err
}

func inUse() error {
	return &errs.Error{Kind: errs.Conflict, Code: tenant.KeyInUse, Message: "a request with this Idempotency-Key is " +
		"under way: ask again in a moment"}
}

// hashKey keeps what clients put into keys out of the database.
func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// forgetRequests removes a few of the keys that have expired; every claim does
// it, so that no key outlives its time by much.
func forgetRequests(ctx context.Context, tx *sqldb.Tx) error {
	_, err := tx.Exec(ctx, `DELETE FROM idempotent_request WHERE expires_at <= ? AND (actor, route, key_hash) IN
		(SELECT actor, route, key_hash FROM idempotent_request WHERE expires_at <= ? ORDER BY expires_at LIMIT 50)`, sqldb.Millis(tx.Now), sqldb.Millis(tx.Now))
	if err != nil {
		return fmt.Errorf("forget keys: %w", err)
	}
	return nil
}

// EndRequest keeps the sealed answer of a request, or, without one, lets go of
// the key: the request failed and may be made again. A holder that was replaced
// changes nothing.
func (db *Store) EndRequest(ctx context.Context, k tenant.RequestKey, holder string, answer []byte) error {
	return db.Tx(ctx, func(tx *sqldb.Tx) error {
		query, args := "DELETE FROM idempotent_request", []any{}
		if answer != nil {
			query, args = "UPDATE idempotent_request SET holder = '', answer = ?", []any{answer}
		}
		_, err := tx.Exec(ctx, query+" WHERE actor = ? AND route = ? AND key_hash = ? AND "+
			"holder = ?", append(args, k.Actor, k.Route, hashKey(k.Key), holder)...)
		if err != nil {
			return fmt.Errorf("end request: %w", err)
		}
		return nil
	})
}
