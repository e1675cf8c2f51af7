package git

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"merlon/internal/errs"
)

// This file gives objects their meaning.

// A Commit is a state of the tree with those before it.
type Commit struct {
	ID      Hash
	Tree    Hash
	Parents []Hash
	Author  string    // the name, without the address
	Date    time.Time // when the author wrote it
	// Committed is the time in seconds at which the commit was made, by which
	// commits are put in order.
	Committed int64
}

// Commit reads a commit. One at the edge of a shallow clone has no parents.
func (r *Repository) Commit(h Hash) (*Commit, error) {
	kind, b, err := r.readObject(h)
	if err != nil {
		return nil, err
	}
	if kind != kindCommit {
		return nil, errs.E(errs.Invalid, "%s is no commit", h)
	}
	c := &Commit{ID: h}
	head, _, _ := bytes.Cut(b, []byte("\n\n"))
	for _, line := range strings.Split(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "tree":
			c.Tree, _ = parseHash(value) // a tree that is not there is found out when it is read
		case "parent":
			if p, ok := parseHash(value); ok && !r.shallow[h] && len(c.Parents) < 64 {
				c.Parents = append(c.Parents, p)
			}
		case "author":
			c.Author, c.Date = parseSignature(value)
		case "committer":
			_, at := parseSignature(value)
			c.Committed = at.Unix()
		}
	}
	return c, nil
}

// parseSignature reads "Name <address> 1700000000 +0100".
func parseSignature(line string) (name string, at time.Time) {
	open, end := strings.IndexByte(line, '<'), strings.LastIndexByte(line, '>')
	if open < 0 || end < open {
		return "", at
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) > 0 {
		if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil && seconds > 0 && seconds < 1<<37 {
			at = time.Unix(seconds, 0).UTC()
		}
	}
	name = strings.TrimSpace(line[:open])
	return strings.ToValidUTF8(name[:min(len(name), 200)], ""), at
}

// An Entry is a file or folder of a tree.
type Entry struct {
	Name string
	ID   Hash
	Dir  bool
	File bool // a regular file; links and submodules are neither
}

// Tree reads the entries of a folder, in Git's order. Entries whose name no
// folder can have are left out.
func (r *Repository) Tree(h Hash) ([]Entry, error) {
	kind, b, err := r.readObject(h)
	if err != nil {
		return nil, err
	}
	if kind != kindTree {
		return nil, errs.E(errs.Invalid, "%s is no tree", h)
	}
	var out []Entry
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return nil, errs.E(errs.Invalid, "the tree %s is damaged", h)
		}
		e := Entry{Name: name, ID: Hash(rest[:20]), Dir: mode == "40000" || mode == "040000",
			File: strings.HasPrefix(mode, "100")}
		if isEntryName(name) {
			out = append(out, e)
		}
		b = rest[20:]
	}
	return out, nil
}

// isEntryName reports whether an entry of a tree may have the name: it is one name of a
// folder, and none that leads out of it.
func isEntryName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/") && len(name) < 4096
}

// Blob reads the content of a file, which must not be changed.
func (r *Repository) Blob(h Hash) ([]byte, error) {
	kind, b, err := r.readObject(h)
	if err == nil && kind != kindBlob {
		err = errs.E(errs.Invalid, "%s is no file", h)
	}
	return b, err
}

// IsDamaged reports whether the error is about one object, so that others may
// still be read.
func IsDamaged(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrTooLarge) || errs.Is(err, errs.Invalid)
}
