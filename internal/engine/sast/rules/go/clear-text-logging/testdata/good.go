package login

import "log"

func enter(user, password string) error {
	// ok: clear-text-logging
	log.Printf("%s enters", user)
	if password == "" {
		log.Println("no password")
	}
	// ok: clear-text-logging
	log.Printf("a password of %d letters", len(password))
	// ok: clear-text-logging
	log.Println(hashPassword(password))
	return nil
}

func hashPassword(s string) string { return s[:0] }

func wrong(errPassword error, passwordFile string) {
	// ok: clear-text-logging
	log.Println(errPassword, passwordFile)
}
