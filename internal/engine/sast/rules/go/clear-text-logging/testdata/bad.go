package login

import "log"

type config struct {
	Host     string
	Password string
}

func enter(user, password string) {
	// ruleid: clear-text-logging
	log.Printf("%s enters with %s", user, password)
}

func told(c config) {
	text := "password is " + c.Password
	// ruleid: clear-text-logging
	log.Println(text)
}

func asked(r request) {
	// ruleid: clear-text-logging
	log.Print(r.Get("Authorization"))
}

type request interface{ Get(string) string }
