package server

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"

	"merlon/internal/config"
	"merlon/internal/errs"
	"merlon/internal/mail"
)

// newCourier returns what delivers mail: to a server, or to a folder.
func newCourier(c config.Server, d *deployment, log *slog.Logger) (*mail.Courier, error) {
	sender, err := newSender(c)
	if err != nil {
		return nil, err
	}
	return &mail.Courier{Queue: d.db, Sender: sender, Post: d.mailPost(), Log: log}, nil
}

func newSender(c config.Server) (mail.Sender, error) {
	if c.SMTPAddress == "" {
		return mail.NewFolder(c.Path("outbox"), c.MailFrom)
	}
	host, portText, err := net.SplitHostPort(c.SMTPAddress)
	if err != nil {
		return nil, errs.E(errs.Invalid, "smtp-address %q is not host:port", c.SMTPAddress)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, errs.E(errs.Invalid, "smtp-address %q: the port is not a number", c.SMTPAddress)
	}
	var password []byte
	if c.SMTPPasswordFile != "" {
		if password, err = os.ReadFile(c.SMTPPasswordFile); err != nil {
			return nil, fmt.Errorf("smtp-password-file: %w", err)
		}
	}
	encryption := mail.Encryption(c.SMTPEncryption)
	if c.SMTPEncryption == "auto" {
		encryption = ""
	}
	return mail.NewSMTP(mail.SMTPConfig{
		Host: host, Port: port, Encryption: encryption, From: c.MailFrom,
		Username: c.SMTPUser, Password: strings.TrimRight(string(password), "\r\n"),
	})
}
