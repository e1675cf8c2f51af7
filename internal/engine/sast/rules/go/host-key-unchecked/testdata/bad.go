package remote

import (
	"net"

	"golang.org/x/crypto/ssh"
)

func config(user string) *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User: user,
		// ruleid: host-key-unchecked
		HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	}
}

func own(user string) *ssh.ClientConfig {
	// ruleid: host-key-unchecked
	return &ssh.ClientConfig{
		User:            user,
		HostKeyCallback: func(host string, at net.Addr, key ssh.PublicKey) error { return nil },
	}
}
