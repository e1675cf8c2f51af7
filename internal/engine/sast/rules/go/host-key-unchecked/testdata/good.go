package remote

import (
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

func config(user, file string) (*ssh.ClientConfig, error) {
	// ok: host-key-unchecked
	known, err := knownhosts.New(file)
	return &ssh.ClientConfig{User: user, HostKeyCallback: known}, err
}

func asked(user string, insecure bool) *ssh.ClientConfig {
	c := &ssh.ClientConfig{User: user}
	if insecure {
		// ok: host-key-unchecked
		c.HostKeyCallback = ssh.InsecureIgnoreHostKey()
	}
	return c
}
