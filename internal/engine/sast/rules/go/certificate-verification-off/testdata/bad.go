package net

import "crypto/tls"

func config() *tls.Config {
	// ruleid: certificate-verification-off
	return &tls.Config{InsecureSkipVerify: true}
}

func local(host string) *tls.Config {
	if host != "" {
		// ruleid: certificate-verification-off
		return &tls.Config{InsecureSkipVerify: true}
	}
	return nil
}
