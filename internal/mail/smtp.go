package mail

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	netmail "net/mail"
	"slices"
	"time"

	gomail "github.com/wneessen/go-mail"

	"merlon/internal/errs"
)

// An Encryption is how the way to an SMTP server is protected.
type Encryption string

const (
	StartTLS Encryption = "starttls" // RFC 3207, required; usually port 587
	TLS      Encryption = "tls"      // from the first byte (RFC 8314); usually port 465
	NoTLS    Encryption = "none"     // only to this machine
)

// encryptionFor returns what a server gets for which nobody chose: nothing on
// this machine, else what the port is for.
func encryptionFor(host string, port int) Encryption {
	switch {
	case isLoopback(host):
		return NoTLS
	case port == 465:
		return TLS
	}
	return StartTLS
}

// smtpTimeout bounds the dialogue with a server, less than the courier's lease.
const smtpTimeout = 30 * time.Second

// SMTPConfig says which server takes the mails. The operator chooses it, so it
// may stand inside the operator's network.
type SMTPConfig struct {
	Host       string
	Port       int
	Encryption Encryption // empty for what fits the address
	Username   string     // empty for no authentication
	Password   string
	From       string      // an address, with or without a name
	TLS        *tls.Config // nil for the system's roots
}

// An SMTP is a Sender that hands every mail to a server.
type SMTP struct {
	host    string
	from    string
	capture bool // connections are made by us, and closed whatever happens
	options []gomail.Option
}

// NewSMTP returns a Sender, or an Invalid error that names the wrong setting. It
// does not connect.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	if _, err := netmail.ParseAddress(c.From); err != nil {
		return nil, errs.E(errs.Invalid, "mail: the sender %q is not an e-mail address", c.From)
	}
	if c.Encryption == "" {
		c.Encryption = encryptionFor(c.Host, c.Port)
	}
	opts := []gomail.Option{gomail.WithPort(c.Port), gomail.WithTimeout(smtpTimeout), gomail.WithoutNoop()}
	if c.TLS != nil {
		t := c.TLS.Clone()
		t.ServerName = c.Host
		opts = append(opts, gomail.WithTLSConfig(t))
	}
	switch c.Encryption {
	case StartTLS:
		opts = append(opts, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case TLS:
		opts = append(opts, gomail.WithSSL())
	case NoTLS:
		if !isLoopback(c.Host) {
			return nil, errs.E(errs.Invalid, "mail: without encryption the server must be on this machine, "+
				"not on %q", c.Host)
		}
		opts = append(opts, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		return nil, errs.E(errs.Invalid, "mail: the encryption is %q; it is starttls, tls or none", c.Encryption)
	}
	if c.Username != "" {
		auth := gomail.SMTPAuthAutoDiscover
		if c.Encryption == NoTLS {
			auth = gomail.SMTPAuthPlainNoEnc // the library refuses others in the clear; it is only to this machine
		}
		opts = append(opts, gomail.WithSMTPAuth(auth), gomail.WithUsername(c.Username), gomail.WithPassword(c.Password))
	}
	if _, err := gomail.NewClient(c.Host, opts...); err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "mail: the settings of the server are not usable")
	}
	return &SMTP{host: c.Host, from: c.From, capture: c.Encryption != TLS, options: opts}, nil
}

// isLoopback reports whether the host is this machine, the only one to which mail may be sent
// unencrypted.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send delivers the mail to the server. An error may come although the server
// took it: the same mail is then sent again, under the same Message-ID.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	msg, err := composeMessage(m, s.from)
	if err != nil {
		return err
	}
	options := s.options
	if s.capture {
		// The library leaves the connection open when the greeting or the
		// authentication fails. Where it begins with TLS it has to dial itself, or
		// it takes the connection for an open one.
		var conn net.Conn
		options = append(slices.Clip(options),
			gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
				var err error
				conn, err = new(net.Dialer).DialContext(ctx, network, address)
				return conn, err
			}))
		defer func() {
			if conn != nil {
				_ = conn.Close() // mostly it is closed already
			}
		}()
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}
