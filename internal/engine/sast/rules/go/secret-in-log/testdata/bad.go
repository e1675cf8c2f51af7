package web

import "log"

func login(name, password string) {
	// ruleid: secret-in-log
	log.Printf("sign-in of %s with %s", name, password)
}
