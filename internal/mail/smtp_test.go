package mail

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"merlon/internal/errs"
)

// An smtpServer is a server of one connection, which keeps what it was told.
type smtpServer struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config
	starttls bool
	implicit bool
	refuse   string // answer to the mail, when it is not taken

	done    chan struct{}
	secure  bool   // the mail came over TLS
	auth    string // as it was sent, decoded
	from    string
	to      []string
	content string
}

func startSMTP(t *testing.T, s *smtpServer) *smtpServer {
	t.Helper()
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.t, s.done = t, make(chan struct{})
	go s.serve()
	t.Cleanup(func() { _ = s.listener.Close(); <-s.done })
	return s
}

func (s *smtpServer) serve() {
	defer close(s.done)
	conn, err := s.listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if s.implicit {
		conn = tls.Server(conn, s.tls)
		s.secure = true
	}
	in := bufio.NewReader(conn)
	say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
	say("220 test ready")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-test")
			if s.starttls && !s.secure {
				say("250-STARTTLS")
			}
			say("250-AUTH PLAIN")
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go ahead")
			conn = tls.Server(conn, s.tls)
			in, s.secure = bufio.NewReader(conn), true
		case "AUTH":
			_, blob, _ := strings.Cut(rest, " ")
			text, err := base64.StdEncoding.DecodeString(blob)
			if err != nil {
				s.t.Error(err)
			}
			s.auth = string(text)
			say("235 welcome")
		case "MAIL":
			s.from = rest
			say("250 ok")
		case "RCPT":
			s.to = append(s.to, rest)
			say("250 ok")
		case "DATA":
			if s.refuse != "" {
				say(s.refuse)
				continue
			}
			say("354 go on")
			s.content = readData(in)
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func readData(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return b.String()
		}
		b.WriteString(strings.TrimPrefix(line, "."))
	}
}

func (s *smtpServer) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// certificate returns a server's TLS settings for 127.0.0.1 and those of a client
// that trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{RootCAs: roots}
}

func TestSMTP(t *testing.T) {
	serverTLS, clientTLS := certificate(t)
	tests := []struct {
		name   string
		server smtpServer
		config SMTPConfig
		want   string // part of the error; empty for none
	}{
		{"STARTTLS", smtpServer{starttls: true}, SMTPConfig{Encryption: StartTLS, TLS: clientTLS, Username: "u",
			Password: "p"}, ""},
		{"TLS", smtpServer{implicit: true}, SMTPConfig{Encryption: TLS, TLS: clientTLS, Username: "u", Password: "p"},
			""},
		{"in the clear, on this machine", smtpServer{}, SMTPConfig{Encryption: NoTLS, Username: "u", Password: "p"},
			""},
		{"no STARTTLS offered", smtpServer{}, SMTPConfig{Encryption: StartTLS, TLS: clientTLS, Username: "u",
			Password: "p"}, "STARTTLS"},
		{"an unknown certificate", smtpServer{starttls: true}, SMTPConfig{Encryption: StartTLS}, "certificate"},
		{"a refusal", smtpServer{refuse: "554 no thanks"}, SMTPConfig{Encryption: NoTLS}, `554 "no thanks"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.tls = serverTLS
			srv := startSMTP(t, &tt.server)
			c := tt.config
			c.Host, c.Port, c.From = "127.0.0.1", srv.port(), "Merlon <no-reply@merlon.example>"
			sender, err := NewSMTP(c)
			if err != nil {
				t.Fatal(err)
			}
			m := queued(t, Recovery("ada@example.com", "https://id.example/auth/recover?token=abc", at))
			err = sender.Send(t.Context(), m)
			_ = srv.listener.Close()
			<-srv.done
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want an error with %q", err, tt.want)
				}
				if srv.content != "" || srv.auth != "" && !srv.secure {
					t.Errorf("the server was told %q, %q", srv.auth, srv.content)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if srv.secure != (c.Encryption != NoTLS) || srv.auth != "\x00u\x00p" {
				t.Errorf("secure %v, auth %q", srv.secure, srv.auth)
			}
			if !strings.HasPrefix(srv.from, "FROM:<no-reply@merlon.example>") || len(srv.to) != 1 ||
				!strings.HasPrefix(srv.to[0], "TO:<ada@example.com>") {
				t.Errorf("from %q to %q", srv.from, srv.to)
			}
			if got := parse(t, []byte(srv.content)); got.text != m.Text {
				t.Errorf("the server got %q, want %q", got.text, m.Text)
			}
		})
	}
}

func TestSMTPSettings(t *testing.T) {
	for name, c := range map[string]SMTPConfig{
		"no sender":             {Host: "localhost", Port: 25, Encryption: NoTLS},
		"in the clear, far off": {Host: "mail.example", Port: 25, Encryption: NoTLS, From: "a@example.com"},
		"an unknown encryption": {Host: "mail.example", Port: 25, Encryption: "ssl", From: "a@example.com"},
		"no port":               {Host: "mail.example", Encryption: TLS, From: "a@example.com"},
		"no host":               {Port: 25, Encryption: TLS, From: "a@example.com"},
	} {
		if _, err := NewSMTP(c); !errs.Is(err, errs.Invalid) {
			t.Errorf("%s: got %v, want an Invalid error", name, err)
		}
	}
}

func TestEncryptionFor(t *testing.T) {
	for _, tt := range []struct {
		host string
		port int
		want Encryption
	}{{"mail.example", 587, StartTLS}, {"mail.example", 25, StartTLS}, {"mail.example", 465, TLS},
		{"127.0.0.1", 25, NoTLS}, {"::1", 465, NoTLS}} {
		if got := encryptionFor(tt.host, tt.port); got != tt.want {
			t.Errorf("%s, port %d: got %s, want %s", tt.host, tt.port, got, tt.want)
		}
	}
}

func TestSMTPIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	s, err := NewSMTP(SMTPConfig{Host: "127.0.0.1", Port: port, Encryption: NoTLS, From: "a@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(context.Background(), queued(t, Recovery("ada@example.com", "x", at))); err == nil {
		t.Error("a mail was sent to nobody")
	}
}
