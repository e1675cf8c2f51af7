package net

import "crypto/tls"

func config() *tls.Config {
	// ruleid: certificate-verification-off
	return &tls.Config{InsecureSkipVerify: true}
}
