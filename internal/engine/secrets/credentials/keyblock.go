package credentials

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file takes private keys in PEM apart (RFC 7468). The rule set matches from the first line
// of a key to the next text that ends a key, at least 64 bytes later. A placeholder is shorter,
// or has no last line, so the match runs on into the key behind it:
//
//	-----BEGIN RSA PRIVATE KEY-----
//	...
//	-----END RSA PRIVATE KEY-----
//
//	-----BEGIN RSA PRIVATE KEY-----
//	MIIEowIBAAKCAQEA…
//
// Judged as one text, it was a placeholder, and the real key was not reported.

const (
	keyRule = "private-key"
	// maxKeyBlock is the size of a block from its first to its last line. An RSA key of 16,384
	// bits has 12 KiB.
	maxKeyBlock = 32 << 10
	// minKeyBlock is the least size of a block: an Ed25519 key in PKCS #8 has 119 bytes with both
	// lines.
	minKeyBlock = 100
)

var (
	blockBegin = lazyregexp.New(`(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
	blockEnd   = lazyregexp.New(`(?i)-----END[ A-Z0-9_-]{0,100}KEY(?: BLOCK)?-----`)
)

// splitKeyBlocks replaces each private key whose match covers several first lines by one secret
// for each of them.
func splitKeyBlocks(text string, secrets []secret) []secret {
	out := make([]secret, 0, len(secrets))
	taken := map[int]bool{} // offsets of keys that are in out
	for _, s := range secrets {
		if s.rule != keyRule {
			out = append(out, s)
			continue
		}
		begins := blockBegin.FindAllStringIndex(s.value, -1)
		if len(begins) < 2 || !strings.HasPrefix(text[s.at.start:], s.value) {
			taken[s.at.start] = true
			out = append(out, s)
			continue
		}
		for _, begin := range begins {
			at := keyBlock(text, s.at.start+begin[0])
			if taken[at.start] || at.end-at.start < minKeyBlock {
				continue
			}
			taken[at.start] = true
			out = append(out, secret{rule: s.rule, value: text[at.start:at.end], at: at})
		}
	}
	return out
}

// keyBlock returns the span of the block whose first line begins at the offset: up to its last
// line, or to the first line of the next block where that comes before.
func keyBlock(text string, start int) span {
	block := text[start:min(start+maxKeyBlock, len(text))]
	first := blockBegin.FindStringIndex(block)
	rest := block[first[1]:]
	if end := blockEnd.FindStringIndex(rest); end != nil {
		rest = rest[:end[1]]
	}
	if next := blockBegin.FindStringIndex(rest); next != nil {
		rest = strings.TrimRight(rest[:next[0]], " \t\r\n")
	}
	return span{start, start + first[1] + len(rest)}
}
