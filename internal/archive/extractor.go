package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"merlon/internal/errs"
)

// This file is what the formats share: names, the budget, and writing.

// An extractor unpacks one archive.
type extractor struct {
	ctx      context.Context
	dst      *os.Root
	budget   Budget
	size     int64 // of the archive
	summary  Summary
	entries  int             // seen, whatever became of them, and folders made
	folders  map[string]bool // some of those that were made, at most maxFolders
	links    []link          // to look at in the end
	pending  int             // bytes of links
	content  meter           // what the files hold together
	buffer   []byte
	inflater io.ReadCloser // of the last entry of a zip, used again
}

// A link is a symbolic or hard link of the archive.
type link struct{ name, target string }

// Limits of what is remembered of an archive, whatever the number of its entries.
const (
	maxFolders   = 4096
	maxLinkBytes = 8 << 20 // of names and targets of links
)

// newExtractor returns an extractor into the folder with the budget for an archive of the size.
func newExtractor(ctx context.Context, size int64, dst *os.Root, b Budget) *extractor {
	return &extractor{
		ctx: ctx, dst: dst, budget: b, size: size,
		folders: map[string]bool{".": true},
		content: meter{limit: b.Bytes, ratio: max(freeRatio, b.Ratio*size)},
		buffer:  make([]byte, 64<<10),
	}
}

// countEntry counts an entry or a folder.
func (x *extractor) countEntry() error {
	if x.entries++; x.entries > x.budget.Files {
		return errs.E(errs.Invalid, "the archive contains more than %d files and folders", x.budget.Files)
	}
	return x.ctx.Err()
}

// skipEntry records an entry that is not written.
func (x *extractor) skipEntry(name, format string, args ...any) {
	if len(x.summary.Skipped) == MaxSkips {
		x.summary.More++
		return
	}
	x.summary.Skipped = append(x.summary.Skipped, Skip{Path: printableName(name), Reason: fmt.Sprintf(format, args...)})
}

// printableName returns the name as it may be shown: without control characters, and
// whole unless it is so long that no file has it.
func printableName(name string) string {
	const most = 4096 // PATH_MAX
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	quoted := strconv.Quote(name)
	if quoted[1:len(quoted)-1] == name {
		return strings.Clone(name) // it may be a part of a larger text
	}
	return quoted
}

// formatBytes returns a number of bytes in words.
func formatBytes(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// cleanName returns an entry's name in its clean form, or "" and the reason for which
// it cannot be taken. The root itself is ".".
func (x *extractor) cleanName(raw string) (clean, reason string) {
	if len(raw) > x.budget.PathBytes {
		return "", fmt.Sprintf("its name is longer than %d bytes", x.budget.PathBytes)
	}
	if !utf8.ValidString(raw) {
		return "", "its name is not UTF-8"
	}
	if strings.ContainsFunc(raw, unicode.IsControl) {
		return "", "its name has control characters"
	}
	if strings.Contains(raw, `\`) {
		return "", "its name has a backslash"
	}
	if strings.HasPrefix(raw, "/") {
		return "", "its name is absolute"
	}
	parts := 0
	for part := range strings.SplitSeq(raw, "/") {
		if part == ".." {
			return "", "its name leaves the folder"
		}
		if len(part) > 255 {
			return "", "a part of its name is longer than 255 bytes"
		}
		parts++
	}
	if parts > x.budget.Depth {
		return "", fmt.Sprintf("it lies deeper than %d folders", x.budget.Depth)
	}
	return path.Clean(raw), ""
}

// makeFolder makes a folder and those above it. It reports whether that worked; a
// file in the way is the archive's fault and recorded.
func (x *extractor) makeFolder(name string) (bool, error) {
	if x.folders[name] {
		return true, nil
	}
	if ok, err := x.makeFolder(path.Dir(name)); !ok || err != nil {
		return ok, err
	}
	err := x.dst.Mkdir(name, 0o700)
	switch {
	case err == nil:
		err = x.countEntry()
	case errors.Is(err, os.ErrExist):
		var info os.FileInfo
		if info, err = x.dst.Lstat(name); err == nil && !info.IsDir() {
			x.skipEntry(name, "it is a folder here and a file elsewhere in the archive")
			return false, nil
		}
	default:
		err = fmt.Errorf("make a folder: %w", err)
	}
	if err != nil {
		return false, err
	}
	if len(x.folders) >= maxFolders {
		clear(x.folders)
		x.folders["."] = true
	}
	x.folders[strings.Clone(name)] = true // it may be a part of a larger text
	return true, nil
}

// An entry is a file of an archive.
type entry struct {
	name string // clean
	size int64  // as declared
	open func() (io.ReadCloser, error)
}

// writeFile writes an entry.
func (x *extractor) writeFile(e entry) error {
	if e.size > x.budget.FileBytes {
		x.skipEntry(e.name, "larger than %s", formatBytes(x.budget.FileBytes))
		return nil
	}
	if ok, err := x.makeFolder(path.Dir(e.name)); !ok || err != nil {
		if err == nil {
			x.skipEntry(e.name, "a file of the archive stands where its folder should be")
		}
		return err
	}
	out, err := x.dst.OpenFile(e.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) || errors.Is(err, syscall.EISDIR) {
		x.skipEntry(e.name, "the archive contains this name more than once")
		return nil
	}
	if err != nil {
		return fmt.Errorf("write a file: %w", err)
	}
	n, err := x.copyContent(out, e)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	x.summary.Files++
	x.summary.Bytes += n
	return nil
}

// copyContent copies the content of an entry. What is read and what is written are
// counted, whatever was declared.
func (x *extractor) copyContent(out io.Writer, e entry) (int64, error) {
	in, err := e.open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // was only read
	var total int64
	for {
		if err := x.ctx.Err(); err != nil {
			return total, err
		}
		n, err := in.Read(x.buffer)
		if over := x.content.addBytes(n); over != nil {
			return total, over
		}
		if total += int64(n); total > e.size {
			return total, errs.E(errs.Invalid, "the archive is damaged: %s is larger than its declared size",
				printableName(e.name))
		}
		if n > 0 {
			if _, err := out.Write(x.buffer[:n]); err != nil {
				return total, fmt.Errorf("write a file: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return total, err
		}
	}
	if total < e.size {
		return total, io.ErrUnexpectedEOF
	}
	return total, nil
}

// addLink notes a link. One to what was unpacked already is only counted; others are kept to
// look at again in the end, as many as fit into maxLinkBytes.
func (x *extractor) addLink(name, target string) {
	if len(target) > x.budget.PathBytes {
		x.skipEntry(name, "a link with a target longer than %d bytes", x.budget.PathBytes)
		return
	}
	l := link{name, target}
	if x.isUnpacked(l) {
		x.summary.Links++
		return
	}
	const each = 64 // of the list itself
	if size := len(name) + len(target) + each; x.pending+size <= maxLinkBytes {
		x.pending += size
		// they may be parts of a larger text
		x.links = append(x.links, link{strings.Clone(name), strings.Clone(target)})
		return
	}
	x.skipEntry(name, "a link to what comes later in the archive, behind too many other links")
}

// isUnpacked reports whether the target of the link was written under its own name.
func (x *extractor) isUnpacked(l link) bool {
	target := path.Clean(l.target)
	if path.IsAbs(l.target) || target == ".." || strings.HasPrefix(target, "../") {
		return false
	}
	_, err := x.dst.Lstat(target)
	return err == nil
}

// resolveLinks looks at the links: one to a file that was written hides nothing.
func (x *extractor) resolveLinks() error {
	for _, l := range x.links {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		if x.isUnpacked(l) {
			x.summary.Links++
			continue
		}
		x.skipEntry(l.name, "a link to what is not in the archive")
	}
	return nil
}

// A meter counts bytes and refuses those above its limits.
type meter struct {
	n     int64
	limit int64 // for every archive
	ratio int64 // for this archive's size
}

// addBytes counts extracted bytes against the budget. Sizes in headers are not trusted: a
// decompression bomb declares small ones.
func (m *meter) addBytes(n int) error {
	switch m.n += int64(n); {
	case m.n > m.limit:
		return errs.E(errs.Invalid, "the archive unpacks to more than %s", formatBytes(m.limit))
	case m.n > m.ratio:
		return errs.E(errs.Invalid, "the archive unpacks to more than %s, too much for its size", formatBytes(m.ratio))
	}
	return nil
}

// A metered reader counts what is read through it, and ends with the context.
type metered struct {
	io.Reader
	*meter
	ctx context.Context
}

// Read counts what a decompressor yields.
func (m metered) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.Reader.Read(p)
	if over := m.addBytes(n); over != nil {
		return 0, over
	}
	return n, err
}
