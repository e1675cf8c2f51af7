package web

import "log"

func login(name, password string) {
	// ok: secret-in-log
	log.Printf("sign-in of %s", name)
}
