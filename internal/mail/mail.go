// Package mail writes and delivers the service's mails. A mail is sealed and put
// into a queue in the same transaction as the change that it tells of, so that
// a process that dies loses none; a Courier delivers from there, at least once,
// over SMTP or into a folder.
package mail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"

	"merlon/internal/errs"
	"merlon/internal/seal"
)

// Limits of a mail, in bytes.
const (
	maxAddress = 254 // RFC 5321, section 4.5.3.1.3, without the angle brackets
	maxSubject = 200
	maxBody    = 64 << 10
)

// A Message is one mail to one person.
type Message struct {
	ID      string    `json:"id"` // a UUID; the same one when the mail is sent again
	To      string    `json:"to"` // a bare address
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	HTML    string    `json:"html"`
	Date    time.Time `json:"date"`
}

// A Sender delivers a mail. Sending the same one again is allowed.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// A Queued mail waits for its delivery. Its content, which may hold a link that
// opens an account, is sealed.
type Queued struct {
	ID       string
	To       string
	Sealed   []byte
	Attempts int // deliveries that were begun
	Created  time.Time
}

// A Post seals mails for the queue.
type Post struct {
	Box *seal.Box
	Now func() time.Time
}

// Queue returns the message as the queue holds it, with an ID and a date. A
// message that could not be delivered to anybody is an Invalid error.
func (p Post) Queue(m Message) (Queued, error) {
	now := p.Now().UTC().Truncate(time.Millisecond)
	m.ID, m.Date = uuid.NewString(), now
	m.Subject = oneLine(m.Subject)
	if err := m.checkHeaders(); err != nil {
		return Queued{}, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return Queued{}, fmt.Errorf("encode mail: %w", err)
	}
	return Queued{ID: m.ID, To: m.To, Sealed: p.Box.Seal(text, Label(m.ID)), Created: now}, nil
}

// Open returns the message of a queued mail.
func (p Post) Open(q Queued) (Message, error) {
	text, err := p.Box.Open(q.Sealed, Label(q.ID))
	if err != nil {
		return Message{}, fmt.Errorf("open mail %s: %w", q.ID, err)
	}
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		return Message{}, fmt.Errorf("open mail %s: %w", q.ID, err)
	}
	return m, nil
}

// Label binds a sealed message to its place in the queue.
func Label(id string) string { return "mail/" + id }

// checkHeaders refuses what is no mail: above all an address or a subject with a line
// break, which would add headers.
func (m Message) checkHeaders() error {
	if err := CheckAddress(m.To); err != nil {
		return err
	}
	if len(m.Subject) > maxSubject || oneLine(m.Subject) != m.Subject {
		return errs.E(errs.Invalid, "the mail's subject is not one line of at most %d bytes", maxSubject)
	}
	if len(m.Text)+len(m.HTML) > maxBody {
		return errs.E(errs.Invalid, "the mail is larger than %d bytes", maxBody)
	}
	return nil
}

// CheckAddress returns an Invalid error for a text that is not a bare address of
// printable ASCII, such as jo@example.com.
func CheckAddress(address string) error {
	a, err := netmail.ParseAddress(address)
	bad := err != nil || a.Name != "" || a.Address != address || len(address) > maxAddress ||
		strings.ContainsFunc(address, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`"<>()\,;`, r)
		})
	if bad {
		return errs.E(errs.Invalid, "this is not an e-mail address")
	}
	return nil
}

// oneLine replaces control characters by spaces, breaks what a mail program would
// decode (RFC 2047), and cuts the text to a subject's length.
func oneLine(s string) string {
	s = strings.ReplaceAll(s, "=?", "= ?")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxSubject {
		s = strings.ToValidUTF8(s[:maxSubject], "")
	}
	return s
}

// composeMessage returns the mail in the form of RFC 5322: text and HTML as
// alternatives. An automatic mail says so (RFC 3834), so that nobody's absence
// notice comes back.
func composeMessage(m Message, from string) (*gomail.Msg, error) {
	if err := m.checkHeaders(); err != nil {
		return nil, err
	}
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := out.From(from); err != nil {
		return nil, fmt.Errorf("sender's address %q: %w", from, err)
	}
	if err := out.To(m.To); err != nil {
		return nil, fmt.Errorf("recipient's address: %w", err)
	}
	out.Subject(m.Subject)
	out.SetDateWithValue(m.Date)
	out.SetMessageIDWithValue(m.ID + "@" + domainOf(from))
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	out.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		out.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return out, nil
}

// encodeMessage returns the bytes of the mail.
func encodeMessage(m Message, from string) ([]byte, error) {
	msg, err := composeMessage(m, from)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := msg.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode mail: %w", err)
	}
	return b.Bytes(), nil
}

// domainOf returns the domain of an address, with or without a name.
func domainOf(from string) string {
	if a, err := netmail.ParseAddress(from); err == nil {
		from = a.Address
	}
	return from[strings.LastIndexByte(from, '@')+1:]
}
