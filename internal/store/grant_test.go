package store_test

import (
	"merlon/internal/audit"
	"merlon/internal/identity"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/oidc/grant"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
)

// grantUser makes the user that grants are given by.
func grantUser(t *testing.T, db *store.DB) tenant.UserID {
	t.Helper()
	const id = "00000000-0000-4000-8000-000000000001"
	err := db.Tx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO app_user (id, email, created_at, updated_at) VALUES (?, "+
			"'jo@example.test', 1, 1)", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func tokens(user tenant.UserID, id, refresh string) grant.Tokens {
	end := storetest.Start.Add(time.Hour)
	return grant.Tokens{
		Grant: grant.Grant{ID: id, UserID: user, ClientID: "cli", Scopes: []string{"openid", "email"},
			AuthTime: storetest.Start, CreatedAt: storetest.Start, ExpiresAt: end},
		Refresh: &grant.Refresh{Hash: refresh, GrantID: id, CreatedAt: storetest.Start, ExpiresAt: end},
	}
}

// admits fails the test unless tokens that were made for id are admitted, or not.
func admits(t *testing.T, db *store.DB, user tenant.UserID, id string, want bool) {
	t.Helper()
	if _, got, err := db.Admit(t.Context(), grant.Admission{User: user, Grant: id}); err != nil || got != want {
		t.Errorf("admit %s: got %v, %v; want %v", id, got, err, want)
	}
}

func TestRedeemCode(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		user, until := grantUser(t, db), storetest.Start.Add(time.Hour)
		want := grant.Code{Hash: "h", UserID: user, ClientID: "cli", RedirectURI: "http://localhost/", Challenge: "c",
			Nonce:  "n",
			Scopes: []string{"openid"}, Offline: true, AuthTime: storetest.Start, CreatedAt: storetest.Start,
			ExpiresAt: until}
		if err := db.AddCode(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := db.Code(t.Context(), "h")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("code: %v (-want +got):\n%s", err, diff)
		}
		if fresh, err := db.RedeemCode(t.Context(), "h", tokens(user, "g1", "r1")); !fresh || err != nil {
			t.Fatalf("first time: %v, %v", fresh, err)
		}
		admits(t, db, user, "g1", true)
		if fresh, err := db.RedeemCode(t.Context(), "h", tokens(user, "g2", "r2")); fresh || err != nil {
			t.Errorf("second time: %v, %v", fresh, err)
		}
		admits(t, db, user, "g1", false)
		if _, err := db.Refresh(t.Context(), "r2"); !errs.Is(err, errs.NotFound) {
			t.Errorf("the second time left a refresh token: %v", err)
		}
		if _, err := db.RedeemCode(t.Context(), "x", tokens(user, "g3", "r3")); !errs.Is(err, errs.NotFound) {
			t.Errorf("unknown code: %v", err)
		}
	})
}

func TestRotateRefresh(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		user, until := grantUser(t, db), storetest.Start.Add(time.Hour)
		if err := db.AddCode(t.Context(), grant.Code{Hash: "h", UserID: user}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.RedeemCode(t.Context(), "h", tokens(user, "g", "r1")); err != nil {
			t.Fatal(err)
		}
		next := func(hash string) grant.Refresh {
			return grant.Refresh{Hash: hash, GrantID: "g", CreatedAt: storetest.Start, ExpiresAt: until}
		}
		rotate := func(hash, to string, want grant.Rotation) {
			t.Helper()
			if got, err := db.RotateRefresh(t.Context(), hash, next(to), 30*time.Second); got != want || err != nil {
				t.Errorf("rotate %s: got %v, %v; want %v", hash, got, err, want)
			}
		}
		clock.Advance(time.Minute)
		rotate("r1", "r2", grant.Rotated)
		got, err := db.Refresh(t.Context(), "r2")
		want := tokens(user, "g", "r2")
		want.Grant.LastUsedAt = clock.Now() // its end does not move
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		clock.Advance(30 * time.Second)
		rotate("r1", "r3", grant.Repeated)
		admits(t, db, user, "g", true)
		if _, err := db.Refresh(t.Context(), "r3"); !errs.Is(err, errs.NotFound) {
			t.Errorf("repeating left a second successor: %v", err)
		}
		clock.Advance(time.Millisecond)
		rotate("r1", "r3", grant.Refused)
		admits(t, db, user, "g", false)
		rotate("r2", "r4", grant.Refused)
	})
}

func TestEndAccess(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		user, until := grantUser(t, db), storetest.Start.Add(time.Hour)
		for _, id := range []string{"g1", "g2"} {
			if err := db.AddCode(t.Context(), grant.Code{Hash: "h" + id, UserID: user}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.RedeemCode(t.Context(), "h"+id, tokens(user, id, "r"+id)); err != nil {
				t.Fatal(err)
			}
		}
		event := audit.Event{Action: "user.end_access"}
		if _, err := db.EndAccess(t.Context(), "somebody else", event); !errs.Is(err, errs.NotFound) {
			t.Fatal(err)
		}
		admits(t, db, user, "g1", true)
		// A code and a device that nobody has exchanged yet end too.
		if err := db.AddCode(t.Context(), grant.Code{Hash: "h3", UserID: user}); err != nil {
			t.Fatal(err)
		}
		device := grant.Device{Hash: "d", UserHash: "u", ClientID: "cli", State: grant.Pending,
			CreatedAt: storetest.Start, ExpiresAt: until}
		if _, err := db.AddDevice(t.Context(), device); err != nil {
			t.Fatal(err)
		}
		device.State = grant.Approved
		if decided, err := db.DecideDevice(t.Context(), device, tenant.Actor{UserID: user}); !decided || err != nil {
			t.Fatal(decided, err)
		}
		ended, err := db.EndAccess(t.Context(), user, event)
		if diff := cmp.Diff(identity.Ended{Grants: 2}, ended); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := db.RedeemCode(t.Context(), "h3", tokens(user, "g3", "r3")); !errs.Is(err, errs.NotFound) {
			t.Errorf("the code from before: %v", err)
		}
		if fresh, err := db.RedeemDevice(t.Context(), "d", tokens(user, "g4", "r4")); fresh || err != nil {
			t.Errorf("the device from before: %v, %v", fresh, err)
		}
		admits(t, db, user, "g1", false)
		admits(t, db, user, "g2", false)
		if _, _, err := db.Admit(t.Context(), grant.Admission{User: "somebody else"}); !errs.Is(err, errs.NotFound) {
			t.Errorf("unknown user: %v", err)
		}
		// A revocation that is made twice keeps the later end.
		for _, end := range []time.Time{until, until.Add(-30 * time.Minute)} {
			if err := db.RevokeToken(t.Context(), "t", end); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(45 * time.Minute)
		if _, err := db.CollectGrants(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, got, err := db.Admit(t.Context(), grant.Admission{User: user, TokenID: "t"}); got || err != nil {
			t.Errorf("a revoked token: %v, %v", got, err)
		}
	})
}

func TestOnceAndSigningKeys(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		for _, value := range []string{"first", "second"} {
			if got, err := db.Once(t.Context(), "name", value); err != nil || got != "first" {
				t.Errorf("Once(%s): got %q, %v", value, got, err)
			}
		}
		key := grant.Key{Generation: 1, ID: "a", Sealed: []byte("x"), CreatedAt: storetest.Start,
			ActiveAt: storetest.Start}
		for i, want := range []bool{true, false} {
			if added, err := db.AddSigningKey(t.Context(), key); err != nil || added != want {
				t.Errorf("time %d: got %v, %v; want %v", i, added, err, want)
			}
			key.ID = "b"
		}
		for range 2 {
			if err := db.DropSigningKey(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		if keys, err := db.SigningKeys(t.Context()); err != nil || len(keys) != 0 {
			t.Errorf("keys %v, %v", keys, err)
		}
	})
}

func TestDevice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		user := grantUser(t, db)
		d := grant.Device{Hash: "d", UserHash: "u", ClientID: "cli", Scopes: []string{"openid"},
			Interval:  5 * time.Second,
			CreatedAt: storetest.Start, ExpiresAt: storetest.Start.Add(time.Minute)}
		if added, err := db.AddDevice(t.Context(), d); err != nil || !added {
			t.Fatalf("%v, %v", added, err)
		}
		twin := d
		twin.Hash = "e"
		if added, err := db.AddDevice(t.Context(), twin); err != nil || added {
			t.Errorf("the same user code twice: %v, %v", added, err)
		}
		d.State = grant.Approved
		if fresh, err := db.RedeemDevice(t.Context(), "d", tokens(user, "g", "r")); err != nil || fresh {
			t.Errorf("redeemed while pending: %v, %v", fresh, err)
		}
		for i, want := range []bool{true, false} {
			if decided, err := db.DecideDevice(t.Context(), d, tenant.Actor{UserID: user}); err != nil ||
				decided != want {
				t.Errorf("decided time %d: %v, %v", i, decided, err)
			}
		}
		for i, want := range []bool{true, false} {
			if fresh, err := db.RedeemDevice(t.Context(), "d", tokens(user, "g", "r")); err != nil || fresh != want {
				t.Errorf("redeemed time %d: %v, %v", i, fresh, err)
			}
		}
		if _, _, err := db.PollDevice(t.Context(), "x", "cli", 0); !errs.Is(err, errs.NotFound) {
			t.Errorf("unknown: %v", err)
		}
		late := d
		late.Hash, late.UserHash = "late", "late"
		if _, err := db.AddDevice(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
		if decided, err := db.DecideDevice(t.Context(), late, tenant.Actor{UserID: user}); err != nil || decided {
			t.Errorf("decided after its end: %v, %v", decided, err)
		}
	})
}
