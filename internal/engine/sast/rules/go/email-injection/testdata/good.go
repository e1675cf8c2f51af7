package post

import (
	"net/http"
	"net/smtp"
	"strconv"
)

func send(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("order"))
	if err != nil {
		return
	}
	text := "Subject: order " + strconv.Itoa(n) + "\r\n\r\nHello"
	// ok: email-injection
	smtp.SendMail("mail.example:25", nil, "a@shop.example", []string{"b@shop.example"}, []byte(text))
}
