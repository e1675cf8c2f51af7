package net

import "crypto/tls"

func config() *tls.Config {
	// ruleid: insecure-protocol-version
	return &tls.Config{MinVersion: tls.VersionTLS10}
}

func late() *tls.Config {
	c := &tls.Config{}
	// ruleid: insecure-protocol-version
	c.MaxVersion = tls.VersionTLS11
	return c
}

func number() *tls.Config {
	// ruleid: insecure-protocol-version
	return &tls.Config{MinVersion: 0x0301}
}

func suites() *tls.Config {
	// ruleid: insecure-cipher-suite
	return &tls.Config{CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}}
}

func all() *tls.Config {
	var list []uint16
	for _, s := range tls.InsecureCipherSuites() {
		list = append(list, s.ID)
	}
	c := &tls.Config{}
	// ruleid: insecure-cipher-suites
	c.CipherSuites = list
	return c
}
