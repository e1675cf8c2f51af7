package mail

import (
	"context"
	"log/slog"
	"time"
)

// This file delivers queued mails.

// Delivery is tried again after a minute, then after twice as long each time, at
// most hourly, for about a day.
const (
	firstRetry  = time.Minute
	longestWait = time.Hour
	maxAttempts = 28
)

// lease is for how long a claimed mail is left to the process that claimed it.
// It is longer than any Sender takes.
const lease = 5 * time.Minute

// batch is how many mails are claimed at a time.
const batch = 10

// A Queue holds the mails that wait.
type Queue interface {
	// ClaimMail returns at most n mails that are due, raises their Attempts, and
	// leaves them alone for the lease.
	ClaimMail(ctx context.Context, n int, lease time.Duration) ([]Queued, error)
	// MailSent removes a mail with everything it held.
	MailSent(ctx context.Context, id string) error
	// MailFailed records why a mail was not delivered and when to try again. With
	// a zero time nobody tries again: the content is removed, the reason stays.
	MailFailed(ctx context.Context, id, reason string, next time.Time) error
}

// A Courier takes mails from the queue and delivers them.
type Courier struct {
	Queue  Queue
	Sender Sender
	Post   Post
	Log    *slog.Logger
	// Every is the pause between two looks at an empty queue; zero for 2 seconds.
	Every time.Duration
}

// Run delivers until the context ends.
func (c *Courier) Run(ctx context.Context) {
	every := c.Every
	if every == 0 {
		every = 2 * time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for {
			n, err := c.Deliver(ctx)
			if err != nil && ctx.Err() == nil {
				c.Log.ErrorContext(ctx, "the mail queue cannot be read", "error", err)
			}
			if err != nil || n == 0 {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Deliver tries to deliver what is due and returns how many mails that were. A
// mail that cannot be delivered is no error: it stays in the queue.
func (c *Courier) Deliver(ctx context.Context) (int, error) {
	mails, err := c.Queue.ClaimMail(ctx, batch, lease)
	if err != nil {
		return 0, err
	}
	for _, q := range mails {
		if err := c.deliverMail(ctx, q); err != nil {
			return 0, err
		}
	}
	return len(mails), nil
}

// deliverMail sends one mail, and records the failure with the time of the next attempt.
func (c *Courier) deliverMail(ctx context.Context, q Queued) error {
	m, err := c.Post.Open(q)
	if err == nil {
		err = c.Sender.Send(ctx, m)
	}
	// What happened to the mail is recorded even when the program is asked to
	// stop meanwhile.
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		return c.Queue.MailSent(ctx, q.ID)
	}
	next := time.Time{}
	if q.Attempts < maxAttempts {
		next = c.Post.Now().Add(retryDelay(q.Attempts))
	}
	c.Log.WarnContext(ctx, "a mail was not delivered", "mail", q.ID, "attempt", q.Attempts, "gave_up", next.IsZero(),
		"error", err)
	return c.Queue.MailFailed(ctx, q.ID, oneLine(err.Error()), next)
}

// retryDelay returns the pause behind the given attempt, from 1.
func retryDelay(attempt int) time.Duration {
	d := firstRetry
	for i := 1; i < attempt && d < longestWait; i++ {
		d *= 2
	}
	return min(d, longestWait)
}
