package graphql

import (
	"fmt"
	"net/url"
	"strings"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file makes the server send requests.

// addressed are names of arguments that take an address; hosted those that take its
// parts.
var (
	// addressed matches arguments that take an address.
	addressed = lazyregexp.New(`(?i)(?:^|_)(?:ur[il]|href|link|webhook|callback|endpoint|feed|src|source)$|(?:Ur[il]|URL|URI|Href|Link|Webhook|Callback|Endpoint|Feed)$`)
	// hosted matches arguments that take the host of an address, beside arguments for its other
	// parts.
	hosted   = lazyregexp.New(`(?i)^(?:host(?:_?name)?|domain|server)$`)
	portName = lazyregexp.New(`(?i)^port$`)
	pathName = lazyregexp.New(`(?i)^path$`)
	scheme   = lazyregexp.New(`(?i)^(?:scheme|protocol)$`)
)

// Errors of networks: nobody listens, and there is no such name.
var (
	// nobodyListens matches errors of a refused connection.
	nobodyListens = lazyregexp.New(`(?i)connection refused|ECONNREFUSED|refused (?:the|to) connect|failed to connect|couldn't connect`)
	// noSuchName matches errors of name resolution.
	noSuchName = lazyregexp.New(`(?i)no such host|ENOTFOUND|getaddrinfo|name or service not known|could not resolve|UnknownHost|nodename nor servname|EAI_AGAIN|name resolution`)
)

// scanForSSRF sends operations that take an address one of the scan's. With a listener, arguments
// for a whole address are left to the check ssrf, which tests all parameters.
func (a *asker) scanForSSRF() error {
	for _, o := range a.Operations {
		if o.Answer == nil {
			continue
		}
		for name, v := range o.sentVariables() {
			_, text := v.(string)
			if whole := addressed.MatchString(name); !text || !whole && !hosted.MatchString(name) ||
				whole && a.OAST != nil {
				continue
			}
			if done, err := a.proveSSRF(o, name); err != nil {
				return err
			} else if done {
				break
			}
		}
	}
	return nil
}

// requestTowards returns the operation's request with the address in the argument, or its
// parts in the arguments that take them.
func (a *asker) requestTowards(o *Operation, name string, to *url.URL) *message.Request {
	variables := o.sentVariables()
	if addressed.MatchString(name) {
		variables[name] = to.String()
		return a.queryRequest(o.Call.Text, variables)
	}
	split := false
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
	}
	for other, v := range variables {
		switch {
		case portName.MatchString(other):
			if _, text := v.(string); text {
				variables[other] = port
			} else {
				var n int
				_, _ = fmt.Sscan(port, &n) // of an address: a number
				variables[other] = n
			}
			split = true
		case pathName.MatchString(other):
			variables[other] = to.RequestURI()
		case scheme.MatchString(other):
			variables[other] = to.Scheme
		}
	}
	variables[name] = to.Host
	if split {
		variables[name] = to.Hostname()
	}
	return a.queryRequest(o.Call.Text, variables)
}

// proveSSRF proves that the server sends a request: it calls the listener, or its errors
// distinguish an address that refuses connections from a name that does not exist.
func (a *asker) proveSSRF(o *Operation, name string) (bool, error) {
	at := &message.Point{In: message.InJSON, Name: "/variables/" + name}
	called, err := a.SendOAST(func(bait func() activescan.OASTPayload) (*message.Request,
		[]activescan.ExpectedInteraction) {
		b := bait()
		to, err := url.Parse(b.URL)
		if err != nil { // the listener has checked it
			return a.Request, nil
		}
		return a.requestTowards(o, name, to),
			[]activescan.ExpectedInteraction{{OASTPayload: b, Rule: serverForgery, Point: at, Payload: b.URL,
				RequiresHTTP: true,
				Proof: fmt.Sprintf("The argument %s of %s is the URL of the OAST listener; the server requested it.",
					name,
					o.Call.Field)}}
	})
	if called || err != nil {
		return called, err
	}
	return a.compareAddresses(o, name, at)
}

// compareAddresses requests a closed port of the server itself (port 1), a name that cannot exist
// (the top-level domain invalid, RFC 6761, section 6.4), and the port again. An error that fits
// each time proves that the server tried to connect.
func (a *asker) compareAddresses(o *Operation, name string, at *message.Point) (bool, error) {
	missing := "http://" + a.RandomLetters(12) + ".invalid/"
	var answers []*message.Response
	for i, address := range []string{"http://127.0.0.1:1/", missing, "http://127.0.0.1:1/"} {
		to, err := url.Parse(address)
		if err != nil { // they are fixed but for letters
			return false, nil
		}
		resp, err := a.Send(a.requestTowards(o, name, to))
		if err != nil {
			return false, err
		}
		text := strings.ReplaceAll(resp.Text(), address, "")
		refused, unknown := nobodyListens.MatchString(text), noSuchName.MatchString(text)
		if i == 1 && (refused || !unknown) || i != 1 && (!refused || unknown) {
			return false, nil
		}
		answers = append(answers, resp)
	}
	a.RaiseAlert(activescan.Alert{Rule: serverForgery, Request: answers[2].Request, Point: at,
		Payload:   "http://127.0.0.1:1/",
		Responses: answers, ResponseNotes: []string{"a closed port", "a name that does not exist",
			"the port again"},
		Message: fmt.Sprintf("%s of %s makes the server send a request", name, o.Call.Field),
		Proof: []string{"For a closed port of the server itself, the response states twice that the connection was " +
			"refused.",
			"For a host name that does not exist, it states that the name is unknown: the server tries to connect."}})
	return true, nil
}
