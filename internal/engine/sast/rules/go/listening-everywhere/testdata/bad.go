package main

import "net"

func listen() (net.Listener, error) {
	// ruleid: listening-everywhere
	return net.Listen("tcp", "0.0.0.0:9000")
}
