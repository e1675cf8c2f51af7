package net

import "crypto/tls"

func config() *tls.Config {
	// ok: certificate-verification-off
	return &tls.Config{MinVersion: tls.VersionTLS12}
}

func asked(c settings) *tls.Config {
	if c.InsecureSkipTLSVerify {
		// ok: certificate-verification-off
		return &tls.Config{InsecureSkipVerify: true}
	}
	return nil
}
