// Package audit describes the audit log: one record per state change and
// sign-in event. Each organization's records are a chain of their own, and the
// chain with the empty name is the deployment's. Every record holds the hash of
// the one before it, so that a record that was changed, removed or slipped in
// later is found by anybody who has an export; see Record.Sum for the format.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"merlon/internal/tenant"
)

// Limits of a record, in bytes. A longer text is cut; a longer detail is an
// error, because it would no longer be JSON.
const (
	maxText   = 256
	maxDetail = 16 << 10
)

// An Event is something that happened: who did what to what. It carries no
// secret: no password, no token, no key.
type Event struct {
	Chain      tenant.OrganizationID // empty for the deployment's own chain
	At         time.Time             // zero for the time of the transaction
	Actor      tenant.UserID         // empty for the program itself, or somebody unknown
	Client     string                // the application that the actor used
	IP         string
	Action     string         // "organization.create": noun, dot, verb
	TargetKind string         // "organization", "team", "project", "user", "finding", …
	Target     string         // the id of what was changed
	Detail     map[string]any // what changed; may be nil
}

// By returns the event with the actor's id, client and address.
func (e Event) By(a tenant.Actor) Event {
	e.Actor, e.Client, e.IP = a.UserID, a.ClientID, a.IP
	return e
}

// A Record is an Event at its place in its chain. Its JSON form is a line of the
// export.
type Record struct {
	Chain      string `json:"chain"`
	Seq        int64  `json:"seq"` // from 1, without a gap
	At         string `json:"at"`  // UTC, as TimeFormat
	Actor      string `json:"actor"`
	Client     string `json:"client"`
	IP         string `json:"ip"`
	Action     string `json:"action"`
	TargetKind string `json:"targetKind"`
	Target     string `json:"target"`
	Detail     string `json:"detail"`   // JSON as text: its exact bytes are hashed
	Previous   string `json:"previous"` // hash of the record before; empty in the first one
	Hash       string `json:"hash"`
}

// TimeFormat is the layout of Record.At: always three digits of a second.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// A Head is where a chain ends: the number and the hash of its last record. The
// zero value is the head of an empty chain.
type Head struct {
	Seq  int64
	Hash string
}

// Head returns the head of a chain that ends with r.
func (r Record) Head() Head { return Head{Seq: r.Seq, Hash: r.Hash} }

// Append returns the record that an event becomes behind head.
func Append(head Head, e Event) (Record, error) {
	detail := "{}"
	if len(e.Detail) > 0 {
		text, err := json.Marshal(e.Detail) // sorts the keys
		if err != nil {
			return Record{}, fmt.Errorf("audit %s: %w", e.Action, err)
		}
		if len(text) > maxDetail {
			return Record{}, fmt.Errorf("audit %s: the detail has %d bytes, at most %d are kept", e.Action, len(text),
				maxDetail)
		}
		detail = string(text)
	}
	r := Record{
		Chain: string(e.Chain), Seq: head.Seq + 1, At: e.At.UTC().Format(TimeFormat),
		Actor: storableText(string(e.Actor)), Client: storableText(e.Client), IP: storableText(e.IP),
		Action: storableText(e.Action), TargetKind: storableText(e.TargetKind), Target: storableText(e.Target),
		Detail: detail, Previous: head.Hash,
	}
	r.Hash = r.Sum()
	return r, nil
}

// storableText returns s as every database can hold it: valid UTF-8, no NUL, not too
// long.
func storableText(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

// Sum returns the hash that the record must have: SHA-256, in lower-case
// hexadecimal, over the texts of the members chain, seq (decimal), at, actor,
// client, ip, action, targetKind, target, detail and previous in this order,
// each as a netstring (its length in bytes in decimal, a colon, the bytes, a
// comma; D. J. Bernstein, 1997). Since every text is preceded by its length, no
// two records have the same encoding.
func (r Record) Sum() string {
	var b strings.Builder
	for _, s := range []string{
		r.Chain, strconv.FormatInt(r.Seq, 10), r.At, r.Actor, r.Client, r.IP,
		r.Action, r.TargetKind, r.Target, r.Detail, r.Previous,
	} {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
		b.WriteByte(',')
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Check verifies that r is whole and follows head, and returns the new head. Its
// error names the record.
func (h Head) Check(r Record) (Head, error) {
	switch {
	case r.Seq != h.Seq+1:
		return h, fmt.Errorf("chain %q: record %d follows record %d", r.Chain, r.Seq, h.Seq)
	case r.Previous != h.Hash:
		return h, fmt.Errorf("chain %q: record %d does not continue record %d: its previous hash differs", r.Chain,
			r.Seq, h.Seq)
	case r.Hash != r.Sum():
		return h, fmt.Errorf("chain %q: record %d was changed: its hash does not fit its content", r.Chain, r.Seq)
	}
	return r.Head(), nil
}

// A Query selects records of one chain, newest first.
type Query struct {
	Actor  tenant.UserID // empty for everybody
	Action string        // empty for every action; "team." for all that begin so
	From   time.Time     // zero for the beginning
	To     time.Time     // zero for the end; exclusive
	Before int64         // only records with a smaller number; 0 for all
	Limit  int           // at least 1
}

// Verify checks the records of one chain, oldest first. A list that does not
// begin with the chain's first record is checked from its own first one on. The
// error names the first record that is broken.
func Verify(records []Record) error {
	if len(records) == 0 {
		return nil
	}
	chain := records[0].Chain
	head := Head{Seq: records[0].Seq - 1, Hash: records[0].Previous}
	if head.Seq == 0 {
		head.Hash = ""
	}
	for _, r := range records {
		if r.Chain != chain {
			return fmt.Errorf("chain %q: record %d belongs to chain %q", chain, r.Seq, r.Chain)
		}
		var err error
		if head, err = head.Check(r); err != nil {
			return err
		}
	}
	return nil
}
