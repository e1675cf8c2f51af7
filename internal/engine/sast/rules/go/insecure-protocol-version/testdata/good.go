package net

import "crypto/tls"

func config() *tls.Config {
	// ok: insecure-protocol-version
	return &tls.Config{MinVersion: tls.VersionTLS13}
}

func asked(legacy bool) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if legacy {
		// ok: insecure-protocol-version
		c.MinVersion = tls.VersionTLS10
	}
	return c
}

func suites() *tls.Config {
	// ok: insecure-cipher-suite
	return &tls.Config{CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
}

func known() []uint16 {
	var list []uint16
	for _, s := range tls.CipherSuites() {
		list = append(list, s.ID)
	}
	// ok: insecure-cipher-suites
	return (&tls.Config{CipherSuites: list}).CipherSuites
}
