// Package image reads references to container images as far as pipelines need:
// whether the same text always means the same image.
package image

import (
	"regexp"
	"strings"
)

// A Reference is the text of an image, in parts.
type Reference struct {
	Name   string // "ghcr.io/owner/name"
	Tag    string
	Digest string // "sha256:…"
}

// A Pin says how firmly a reference names an image.
type Pin int

// From firm to loose.
const (
	Digest   Pin = iota // by content
	Variable            // part of it is known only at run time
	Tagged              // by a tag that says a version
	Floating            // by no tag, or by one that moves
)

// Parse splits a reference. A colon before a slash is the port of a registry, not a
// tag.
func Parse(text string) Reference {
	text = strings.TrimPrefix(strings.TrimSpace(text), "docker://")
	var r Reference
	text, r.Digest, _ = strings.Cut(text, "@")
	if at := strings.LastIndex(text, ":"); at > strings.LastIndex(text, "/") {
		text, r.Tag = text[:at], text[at+1:]
	}
	r.Name = text
	return r
}

// floating matches tags that are moved to the newest image by custom, among them the
// code names of Debian and Ubuntu.
var floating = regexp.MustCompile(`^(?i)(latest|stable|edge|nightly|main|master|dev|develop|rolling|current|lts|alpine|slim|bullseye|bookworm|buster|jammy|focal|noble)$`)

// Pin says how firm the reference is.
func (r Reference) Pin() Pin {
	switch {
	case strings.Contains(r.Digest, ":"): // "name@latest" is no digest
		return Digest
	case strings.ContainsAny(r.Name+r.Tag, "$<%{"):
		return Variable
	case r.Tag == "" || floating.MatchString(r.Tag):
		return Floating
	}
	return Tagged
}

// IsLooserThan reports whether the reference is looser than the other. Of several
// images that a job may run, the loosest is the risk.
func (r Reference) IsLooserThan(other Reference) bool { return r.Pin() > other.Pin() }
