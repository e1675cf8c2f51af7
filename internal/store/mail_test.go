package store_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/audit"
	"merlon/internal/identity"
	"merlon/internal/mail"
	"merlon/internal/seal"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

// A mailbox is a Sender that fails until it is told otherwise.
type mailbox struct {
	fail error
	got  []mail.Message
}

func (m *mailbox) Send(_ context.Context, msg mail.Message) error {
	if m.fail != nil {
		return m.fail
	}
	m.got = append(m.got, msg)
	return nil
}

func courier(t *testing.T, db *store.DB, clock *storetest.Clock, to mail.Sender) *mail.Courier {
	t.Helper()
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return &mail.Courier{Queue: db, Sender: to, Post: mail.Post{Box: box, Now: clock.Now},
		Log: slog.New(slog.DiscardHandler)}
}

// queueMail queues a mail as a request does, and returns its id.
func queueMail(t *testing.T, db *store.DB, c *mail.Courier, hash string) string {
	t.Helper()
	q, err := c.Post.Queue(mail.Recovery("ada@example.com", "https://id.example/"+hash, c.Post.Now()))
	if err != nil {
		t.Fatal(err)
	}
	r := identity.Request{Hash: hash, Kind: identity.RecoveryRequest, Email: "ada@example.com"}
	if err := db.CreateRequest(t.Context(), r, q, audit.Event{Action: "test"}); err != nil {
		t.Fatal(err)
	}
	return q.ID
}

func deliver(t *testing.T, c *mail.Courier, want int) {
	t.Helper()
	if n, err := c.Deliver(t.Context()); n != want || err != nil {
		t.Fatalf("delivered %d, %v; want %d", n, err, want)
	}
}

func TestMailIsDelivered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		box := &mailbox{}
		c := courier(t, db, clock, box)
		deliver(t, c, 0)
		first := queueMail(t, db, c, "one")
		clock.Advance(time.Second)
		second := queueMail(t, db, c, "two")
		deliver(t, c, 2)
		deliver(t, c, 0)
		ids := []string{}
		for _, m := range box.got {
			ids = append(ids, m.ID)
		}
		if diff := cmp.Diff([]string{first, second}, ids); diff != "" {
			t.Errorf("delivered (-want +got):\n%s", diff)
		}
		var rows int
		if err := db.QueryRow(t.Context(), "SELECT COUNT(*) FROM mail_outbox").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows are left, %v", rows, err)
		}
	})
}

// A change that does not happen sends no mail.
func TestMailIsPartOfTheChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		c := courier(t, db, clock, &mailbox{})
		queueMail(t, db, c, "one")
		deliver(t, c, 1)
		q, err := c.Post.Queue(mail.Recovery("ada@example.com", "x", clock.Now()))
		if err != nil {
			t.Fatal(err)
		}
		r := identity.Request{Hash: "one", Kind: identity.RecoveryRequest} // in use
		if err := db.CreateRequest(t.Context(), r, q, audit.Event{Action: "test"}); err == nil {
			t.Fatal("a request was stored twice")
		}
		deliver(t, c, 0)
	})
}

func TestMailIsRetried(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		box := &mailbox{fail: errors.New("450 try\r\nlater \xff")}
		c := courier(t, db, clock, box)
		queueMail(t, db, c, "one")
		start := clock.Now()
		deliver(t, c, 1)
		deliver(t, c, 0)
		clock.Advance(time.Minute)
		deliver(t, c, 1)
		clock.Advance(time.Minute)
		deliver(t, c, 0) // two minutes behind the second attempt
		clock.Advance(time.Minute)
		box.fail = nil
		deliver(t, c, 1)
		if len(box.got) != 1 || !box.got[0].Date.Equal(start) {
			t.Errorf("delivered %v", box.got)
		}
	})
}

func TestMailIsGivenUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		box := &mailbox{fail: errors.New("550 nobody here")}
		c := courier(t, db, clock, box)
		queueMail(t, db, c, "one")
		begun := clock.Now()
		attempts := 0
		for clock.Now().Sub(begun) < 72*time.Hour {
			n, err := c.Deliver(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			attempts += n
			clock.Advance(time.Hour)
		}
		var sealed []byte
		var reason string
		var failed int64
		if err := db.QueryRow(t.Context(), "SELECT sealed, reason, failed_at FROM mail_outbox").Scan(&sealed, &reason,
			&failed); err != nil {
			t.Fatal(err)
		}
		if attempts != 28 || len(sealed) != 0 || !strings.Contains(reason, "550 nobody here") || failed == 0 {
			t.Errorf("%d attempts, %d bytes kept, reason %q, given up at %d", attempts, len(sealed), reason, failed)
		}
		if err := db.SweepIdentity(t.Context(), identity.Live{At: clock.Now()}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(30 * 24 * time.Hour)
		if err := db.SweepIdentity(t.Context(), identity.Live{At: clock.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow(t.Context(), "SELECT COUNT(*) FROM mail_outbox").Scan(&attempts); err != nil ||
			attempts != 0 {
			t.Errorf("%d mails are kept for ever, %v", attempts, err)
		}
	})
}

// A mail whose process died with it is taken by another one.
func TestMailOfADeadProcess(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		box := &mailbox{}
		c := courier(t, db, clock, box)
		queueMail(t, db, c, "one")
		claimed, err := db.ClaimMail(t.Context(), 10, time.Minute)
		if err != nil || len(claimed) != 1 || claimed[0].Attempts != 1 {
			t.Fatalf("claimed %v, %v", claimed, err)
		}
		deliver(t, c, 0)
		clock.Advance(time.Minute)
		deliver(t, c, 1)
		if len(box.got) != 1 {
			t.Errorf("delivered %v", box.got)
		}
	})
}

// The loop delivers without being asked, and ends with its context.
func TestCourierRuns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		dir := t.TempDir()
		folder, err := mail.NewFolder(dir, "no-reply@merlon.example")
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{}, 1)
		c := courier(t, db, clock, senderFunc(func(ctx context.Context, m mail.Message) error {
			defer func() { sent <- struct{}{} }()
			return folder.Send(ctx, m)
		}))
		c.Every = 5 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		go func() { c.Run(ctx); close(ended) }()
		queueMail(t, db, c, "one")
		for _, event := range []chan struct{}{sent, ended} {
			select {
			case <-event:
			case <-time.After(time.Minute):
				t.Fatal("the courier does not move")
			}
			cancel()
		}
	})
}

type senderFunc func(context.Context, mail.Message) error

func (f senderFunc) Send(ctx context.Context, m mail.Message) error { return f(ctx, m) }
