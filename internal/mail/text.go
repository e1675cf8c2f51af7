package mail

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// This file holds the texts of the mails. A mail is a few paragraphs, of which
// one may be a link; the HTML form is the same text, with every value escaped.

// dateFormat is how mails write a moment; they cannot know the reader's zone.
const dateFormat = "2 January 2006, 15:04 UTC"

// A letter is a mail in the making.
type letter struct {
	text, html strings.Builder
}

// addParagraph adds a paragraph to both forms of the mail; arguments are escaped in HTML.
func (l *letter) addParagraph(format string, args ...any) {
	s := oneParagraph(fmt.Sprintf(format, args...))
	l.text.WriteString(s + "\n\n")
	l.html.WriteString("<p>" + html.EscapeString(s) + "</p>\n")
}

// addLink adds a link, as a button in HTML.
func (l *letter) addLink(label, address string) {
	l.text.WriteString(address + "\n\n")
	l.html.WriteString(`<p><a href="` + html.EscapeString(address) + `">` + html.EscapeString(label) + "</a></p>\n")
}

// newMessage returns the mail in both forms.
func (l *letter) newMessage(to, subject string) Message {
	return Message{
		To: to, Subject: subject, Text: strings.TrimRight(l.text.String(), "\n") + "\n",
		HTML: "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html.EscapeString(subject) +
			"</title></head><body>\n" + l.html.String() + "</body></html>\n",
	}
}

// oneParagraph keeps a value that somebody else chose, such as the name of an
// organization, from adding paragraphs of its own.
func oneParagraph(s string) string { return strings.Join(strings.Fields(s), " ") }

// safeName cuts a name that somebody else chose. It also takes the dots out of what
// a mail program would turn into a link.
func safeName(s string) string {
	s = oneParagraph(s)
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strings.NewReplacer("://", " ", ".", "․").Replace(s)
}

// Verification asks somebody who signed up to confirm the address.
func Verification(to, link string, expires time.Time) Message {
	var l letter
	l.addParagraph("Somebody, probably you, signed up with this e-mail address. Choose your name and password " +
		"here to " +
		"finish:")
	l.addLink("Create the account", link)
	l.addParagraph("The link works once, until %s. If it was not you, do nothing: no account is made without "+
		"this step.", expires.UTC().Format(dateFormat))
	return l.newMessage(to, "Confirm your e-mail address")
}

// AlreadyRegistered tells the owner of an account that somebody tried to sign up
// with its address.
func AlreadyRegistered(to, signIn, recovery string) Message {
	var l letter
	l.addParagraph("Somebody, probably you, signed up with this e-mail address. There is an account with it already, " +
		"and nothing was changed. Sign in with the password that you have:")
	l.addLink("Sign in", signIn)
	l.addParagraph("If you do not know the password any more, choose a new one:")
	l.addLink("Choose a new password", recovery)
	return l.newMessage(to, "You have an account already")
}

// NotInvited tells somebody who signed up that only invited people may.
func NotInvited(to string) Message {
	var l letter
	l.addParagraph("Somebody, probably you, signed up with this e-mail address. Accounts are only for people " +
		"who were " +
		"invited, and there is no open invitation for this address. Ask an administrator of your organization to " +
		"invite it.")
	l.addParagraph("If it was not you, do nothing.")
	return l.newMessage(to, "An invitation is needed")
}

// Recovery lets somebody choose a new password.
func Recovery(to, link string, expires time.Time) Message {
	var l letter
	l.addParagraph("Somebody, probably you, asked for a new password for this account. Choose one here:")
	l.addLink("Choose a new password", link)
	l.addParagraph("The link works once, until %s. It signs out every browser and application and deletes every "+
		"personal access token of the account. If it was not you, do nothing: your password stays as it is.",
		expires.UTC().Format(dateFormat))
	return l.newMessage(to, "Choose a new password")
}

// NoAccount answers a request for a new password where there is no account: the
// person who owns the address learns it, nobody else does.
func NoAccount(to, signUp string) Message {
	var l letter
	l.addParagraph("Somebody, probably you, asked for a new password, but there is no account with this e-mail " +
		"address. " +
		"Perhaps you signed up with another one. You can sign up here:")
	l.addLink("Sign up", signUp)
	l.addParagraph("If it was not you, do nothing.")
	return l.newMessage(to, "There is no account with this address")
}

// PasswordChanged tells the owner of an account that its password is another
// one now, and whether the personal access tokens were deleted.
func PasswordChanged(to, recovery string, at time.Time, tokens bool) Message {
	var l letter
	l.addParagraph("The password of your account was changed on %s.", at.UTC().Format(dateFormat))
	if tokens {
		l.addParagraph("Browsers and applications that were signed in before are signed out, and every personal " +
			"access " +
			"token was deleted.")
	} else {
		l.addParagraph("Other browsers and all applications are signed out. Personal access tokens still work.")
	}
	l.addParagraph("If it was not you, choose a new password at once. That also deletes every personal access token:")
	l.addLink("Choose a new password", recovery)
	return l.newMessage(to, "Your password was changed")
}

// A NewToken is what a mail says about a personal access token.
type NewToken struct {
	Name    string
	Scopes  []string
	Limited bool // to some organizations or projects
	Created time.Time
	Expires time.Time // zero for never
	Account string    // address of the page where tokens can be deleted
}

// TokenCreated tells the owner of an account that somebody has created a personal
// access token for it.
func TokenCreated(to string, t NewToken) Message {
	var l letter
	end := "It does not expire."
	if !t.Expires.IsZero() {
		end = "It expires on " + t.Expires.UTC().Format(dateFormat) + "."
	}
	where := "everything that you may see"
	if t.Limited {
		where = "some of your organizations or projects"
	}
	l.addParagraph("A personal access token named “%s” was created for your account on %s. It may act for you in %s, "+
		"with the scopes %s. %s",
		safeName(t.Name), t.Created.UTC().Format(dateFormat), where, strings.Join(t.Scopes, ", "), end)
	l.addParagraph("If it was not you, delete the token and change your password at once:")
	l.addLink("Your account", t.Account)
	return l.newMessage(to, "A personal access token was created")
}

// An Invite is what an invitation's mail says.
type Invite struct {
	To           string
	Organization string // its name
	Inviter      string // a person's name; may be empty
	Link         string // where to accept it; may be empty
	Token        string // what to accept it with over the API
	Expires      time.Time
}

// Invitation asks somebody to join an organization.
func Invitation(i Invite) Message {
	var l letter
	who := safeName(i.Inviter)
	if who == "" {
		who = "An administrator"
	}
	l.addParagraph("%s invites you to the organization “%s”.", who, safeName(i.Organization))
	if i.Link != "" {
		l.addLink("Accept the invitation", i.Link)
	}
	l.addParagraph("The code of the invitation is %s", i.Token)
	l.addParagraph("It holds until %s, for the account with this e-mail address; sign up with it if you have none. If "+
		"you do not know who invites you, do nothing.", i.Expires.UTC().Format(dateFormat))
	return l.newMessage(i.To, "Invitation to "+safeName(i.Organization))
}
