package oast

import (
	"errors"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"merlon/internal/scan"
)

// This file answers questions of DNS.

// maxQuestion bounds a question, in bytes: a name, and options of EDNS.
const maxQuestion = 1232

// serveDNS answers questions until the listener is closed. An answer is hardly longer than
// its question, so that nobody is flooded by forged ones.
func (l *Listener) serveDNS() {
	buf := make([]byte, maxQuestion)
	for {
		n, from, err := l.names.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || !l.limiter.Allow() {
			continue
		}
		out := l.replyDNS(buf[:n], peerOf(from).String())
		if out != nil {
			_, _ = l.names.WriteTo(out, from) // who asks may be gone
		}
	}
}

// replyDNS answers a question, and notes it where its name holds a token; nil: what came is
// no question.
func (l *Listener) replyDNS(question []byte, from string) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(question)
	if err != nil || head.Response || head.OpCode != 0 {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	kind := strings.TrimPrefix(q.Type.String(), "Type")
	token := l.recordInteraction(name, scan.Interaction{Protocol: "dns", From: from, Request: kind + " " + name})
	ours := token != "" || l.o.Domain != "" && (name == l.o.Domain || strings.HasSuffix(name, "."+l.o.Domain))
	answer := dnsmessage.Header{ID: head.ID, Response: true, Authoritative: ours,
		RecursionDesired: head.RecursionDesired}
	if !ours {
		answer.RCode = dnsmessage.RCodeRefused
	}
	return buildDNSReply(answer, q, l.answer, ours)
}

// buildDNSReply writes an answer: with the listener's address where it is asked for.
func buildDNSReply(h dnsmessage.Header, q dnsmessage.Question, at netip.Addr, ours bool) []byte {
	b := dnsmessage.NewBuilder(nil, h)
	b.EnableCompression()
	err := errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers())
	record := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}
	switch {
	case !ours:
	case q.Type == dnsmessage.TypeA && at.Is4():
		err = errors.Join(err, b.AResource(record, dnsmessage.AResource{A: at.As4()}))
	case q.Type == dnsmessage.TypeAAAA && at.Is6():
		err = errors.Join(err, b.AAAAResource(record, dnsmessage.AAAAResource{AAAA: at.As16()}))
	}
	out, finishErr := b.Finish()
	if errors.Join(err, finishErr) != nil {
		return nil
	}
	return out
}
