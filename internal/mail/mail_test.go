package mail

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/seal"
)

var at = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func testPost(t *testing.T) Post {
	t.Helper()
	box, err := seal.New(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return Post{Box: box, Now: func() time.Time { return at }}
}

// queued returns the message with an ID and a date, as the queue would.
func queued(t *testing.T, m Message) Message {
	t.Helper()
	p := testPost(t)
	q, err := p.Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = p.Open(q); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestQueueSeals(t *testing.T) {
	p := testPost(t)
	m := Recovery("ada@example.com", "https://id.example/auth/recover?token=SECRET", at)
	q, err := p.Queue(m)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(q.Sealed, []byte("SECRET")) || q.To != "ada@example.com" || !q.Created.Equal(at) {
		t.Errorf("queued as %+v", q)
	}
	got, err := p.Open(q)
	if err != nil {
		t.Fatal(err)
	}
	m.ID, m.Date = q.ID, at
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	q.ID = "another"
	if _, err := p.Open(q); err == nil {
		t.Error("the content opens under another mail's id")
	}
}

func TestQueueRefuses(t *testing.T) {
	for name, m := range map[string]Message{
		"nobody":       {Subject: "x"},
		"two people":   {To: "a@example.com, b@example.com"},
		"a header":     {To: "a@example.com\r\nBcc: b@example.com"},
		"a name":       {To: "A <a@example.com>"},
		"a quoted one": {To: `"a b"@example.com`},
		"too large":    {To: "a@example.com", Text: strings.Repeat("x", maxBody+1)},
	} {
		if _, err := testPost(t).Queue(m); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want an Invalid error", name, err)
		}
	}
}

// parsed is a mail as its reader's program sees it.
type parsed struct {
	header     netmail.Header
	subject    string
	text, html string
}

func parse(t *testing.T, raw []byte) parsed {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	p := parsed{header: m.Header}
	if p.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(body), "\r\n", "\n")
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			p.html = text
		} else {
			p.text = text
		}
	}
}

func TestMailIsWhole(t *testing.T) {
	m := queued(t, Verification("ada@example.com", "https://id.example/auth/verify?token=abc", at))
	raw, err := encodeMessage(m, "Merlon <no-reply@merlon.example>")
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, raw)
	for name, want := range map[string]string{
		"From": `"Merlon" <no-reply@merlon.example>`, "To": "<ada@example.com>", "Auto-Submitted": "auto-generated",
		"Message-Id": "<" + m.ID + "@merlon.example>", "Date": "Fri, 20 Nov 2026 09:00:00 +0000",
	} {
		if h := got.header.Get(name); h != want {
			t.Errorf("%s: got %q, want %q", name, h, want)
		}
	}
	if got.subject != m.Subject || got.text != m.Text || got.html != m.HTML {
		t.Errorf("got %+v, want %+v", got, m)
	}
}

// Nothing that a stranger names can add a header, a recipient or markup.
func TestInvitationIsOneMail(t *testing.T) {
	const evil = "Acme\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script> visit https://evil.example/now"
	m := queued(t, Invitation(Invite{
		To: "ada@example.com", Organization: evil, Inviter: evil + strings.Repeat("x", 500),
		Link: "https://app.example/i?token=a&b=\"><x", Token: "tok", Expires: at,
	}))
	raw, err := encodeMessage(m, "no-reply@merlon.example")
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, raw)
	if len(got.header["Bcc"]) > 0 || strings.Contains(got.header.Get("Subject"), "\n") {
		t.Errorf("the headers are %v", got.header)
	}
	if strings.Contains(got.html, "<script") || strings.Contains(got.html, `"><x`) {
		t.Errorf("the page is %s", got.html)
	}
	for _, text := range []string{got.text, got.html, got.subject} {
		if strings.Contains(text, "evil.example") || strings.Contains(text, "https://evil") {
			t.Errorf("a stranger's link stands in %q", text)
		}
	}
	if !strings.Contains(got.text, "The code of the invitation is tok\n") {
		t.Errorf("the text is %s", got.text)
	}
}

func FuzzInvitation(f *testing.F) {
	f.Add("Acme", "Ada")
	f.Add("a\r\nBcc: x@example.com", "\x00\xff")
	f.Add("=?utf-8?q?=0d=0aBcc:_x?=", strings.Repeat("é", 300))
	f.Fuzz(func(t *testing.T, organization, inviter string) {
		m := queued(t, Invitation(Invite{To: "ada@example.com", Organization: organization, Inviter: inviter,
			Token: "t", Expires: at}))
		raw, err := encodeMessage(m, "no-reply@merlon.example")
		if err != nil {
			t.Fatal(err)
		}
		got := parse(t, raw)
		if len(got.header) != 8 {
			t.Errorf("the headers are %v", got.header)
		}
		if strings.ContainsAny(got.subject, "\r\n") {
			t.Errorf("the subject is %q", got.subject)
		}
	})
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outbox")
	f, err := NewFolder(dir, "no-reply@merlon.example")
	if err != nil {
		t.Fatal(err)
	}
	m := queued(t, Recovery("ada@example.com", "https://id.example/x", at))
	for range 2 { // again, as after a crash
		if err := f.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Name() != "20261120T090000.000Z-"+m.ID+".eml" {
		t.Fatalf("the folder holds %v", list)
	}
	info, err := list[0].Info()
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode is %v, %v", info.Mode(), err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, list[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, raw); got.text != m.Text {
		t.Errorf("the file says %q", got.text)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := f.Send(t.Context(), m); err == nil {
		t.Error("a mail without a folder was sent")
	}
}
