package post

import (
	"net/http"
	"net/smtp"
)

func send(w http.ResponseWriter, r *http.Request) {
	text := "Subject: " + r.FormValue("subject") + "\r\n\r\nHello"
	// ruleid: email-injection
	smtp.SendMail("mail.example:25", nil, "a@shop.example", []string{"b@shop.example"}, []byte(text))
}

func stream(w http.ResponseWriter, r *http.Request) {
	c, err := smtp.Dial("mail.example:25")
	if err != nil {
		return
	}
	out, _ := c.Data()
	// ruleid: email-injection
	out.Write([]byte(r.FormValue("text")))
}
