package main

import "net"

func listen() (net.Listener, error) {
	// ok: listening-everywhere
	return net.Listen("tcp", "127.0.0.1:9000")
}
