package advisory

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"merlon/internal/finding"
)

// This file keeps what is known of the exploitation of flaws beside the records:
// EPSS scores and the catalogue of known exploited vulnerabilities (KEV), both by
// CVE. Each is one table of the data file, sorted by CVE, 16 bytes an entry.

// A Feed says what is held of one of them.
type Feed struct {
	Version  string    `json:"version,omitempty"` // of the model, or of the catalogue
	Date     time.Time `json:"date"`              // the day of the scores, or of the catalogue
	Imported time.Time `json:"imported"`
	Entries  int       `json:"entries"`
}

// A feedKind is the kind of data that a feed adds to records.
type feedKind uint8

const (
	epss feedKind = iota
	kev
	feedKinds
)

// String names the feed.
func (k feedKind) String() string { return [...]string{"EPSS", "KEV"}[k] }

// A feed is the content of one file.
type feed struct {
	kind feedKind
	Feed
	entries []feedEntry
	bad     []string // what is wrong with entries, and where
	more    int      // beyond those
}

// A feedEntry is what is known of one CVE. For EPSS a and b are the score and the
// percentile in billionths; for KEV a is the day of its addition (upper half) and
// the day by which it is to be mended, counted from 1970, and b is 1 when
// ransomware is known to use it.
type feedEntry struct {
	cve  uint64
	a, b uint32
}

const (
	feedEntrySize = 16
	billion       = 1_000_000_000
)

// parseCVE reads a name such as CVE-2021-44228.
func parseCVE(name string) (uint64, bool) {
	year, number, ok := strings.Cut(strings.TrimPrefix(name, "CVE-"), "-")
	if !ok || !strings.HasPrefix(name, "CVE-") || len(year) != 4 || !isDigits(year) || !isDigits(number) ||
		len(number) < 4 || len(number) > 12 {
		return 0, false
	}
	y, _ := strconv.ParseUint(year, 10, 16)   // four digits
	n, _ := strconv.ParseUint(number, 10, 48) // at most twelve
	return y<<48 | n, true
}

// addProblem adds a broken entry to the problems, up to a hundred; the rest is counted.
func (f *feed) addProblem(format string, args ...any) {
	if len(f.bad) < 100 {
		f.bad = append(f.bad, fmt.Sprintf(format, args...))
	} else {
		f.more++
	}
}

// sortEntries sorts the entries; of two about one CVE the worse stays.
func (f *feed) sortEntries() {
	slices.SortFunc(f.entries, func(x, y feedEntry) int {
		if f.kind == kev { // the earlier day, and ransomware, are the worse
			return cmp.Or(cmp.Compare(x.cve, y.cve), cmp.Compare(y.b, x.b), cmp.Compare(x.a, y.a))
		}
		return cmp.Or(cmp.Compare(x.cve, y.cve), cmp.Compare(y.a, x.a), cmp.Compare(y.b, x.b))
	})
	f.entries = slices.CompactFunc(f.entries, func(x, y feedEntry) bool { return x.cve == y.cve })
	f.Entries = len(f.entries)
}

// encodeTable returns the table.
func (f *feed) encodeTable() []byte {
	var e encoder
	for _, entry := range f.entries {
		e.putUint64(entry.cve)
		e.putUint32(entry.a)
		e.putUint32(entry.b)
	}
	return e.b
}

// A feedTable is an encoded table.
type feedTable string

// entryAt decodes the i-th entry.
func (t feedTable) entryAt(i int) feedEntry {
	b := []byte(t[i*feedEntrySize : (i+1)*feedEntrySize])
	return feedEntry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]),
		binary.LittleEndian.Uint32(b[12:])}
}

// len is the number of entries.
func (t feedTable) len() int { return len(t) / feedEntrySize }

// findCVE returns the entry of a CVE by binary search.
func (t feedTable) findCVE(cve uint64) (feedEntry, bool) {
	n := t.len()
	i := sort.Search(n, func(i int) bool { return t.entryAt(i).cve >= cve })
	if i == n || t.entryAt(i).cve != cve {
		return feedEntry{}, false
	}
	return t.entryAt(i), true
}

// isSorted reports whether the table can be searched. A damaged one could hide an entry.
func (t feedTable) isSorted() bool {
	for i := 1; i < t.len(); i++ {
		if t.entryAt(i-1).cve >= t.entryAt(i).cve {
			return false
		}
	}
	return len(t)%feedEntrySize == 0
}

// addExploitation adds what the feeds say of the CVEs among an advisory's names: the worst
// of each.
func (f *File) addExploitation(a *finding.Advisory) {
	for _, name := range a.Aliases {
		cve, ok := parseCVE(name)
		if !ok {
			continue
		}
		if e, ok := f.feeds[epss].findCVE(cve); ok {
			if score := float64(e.a) / billion; a.EPSS == nil || score > a.EPSS.Score {
				a.EPSS = &finding.EPSS{Score: score, Percentile: float64(e.b) / billion}
			}
		}
		if e, ok := f.feeds[kev].findCVE(cve); ok {
			k := &finding.KEV{Added: formatDay(e.a >> 16), Due: formatDay(e.a & 0xffff), Ransomware: e.b == 1}
			if old := a.KEV; old != nil {
				k.Added, k.Due, k.Ransomware = earlierTime(k.Added, old.Added), earlierTime(k.Due, old.Due),
					k.Ransomware ||
						old.Ransomware
			}
			a.KEV = k
			// Attackers use it: whatever its score says, it comes first.
			a.Severity = finding.Critical
		}
	}
}

// formatDay is a day counted from 1970; empty when it is not known.
func formatDay(n uint32) string {
	if n == 0 {
		return ""
	}
	return time.Unix(int64(n)*86400, 0).UTC().Format(time.DateOnly)
}

// parseDay counts the days from 1970; 0 when the text is not a day.
func parseDay(text string) uint32 {
	t, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if n := t.Unix() / 86400; err == nil && n > 0 && n <= math.MaxUint16 {
		return uint32(n)
	}
	return 0
}

// takeFeed takes a feed of a source; the newest of each kind stays.
func (b *builder) takeFeed(name string, f *feed) {
	for _, text := range f.bad {
		b.addMalformed(Malformed{name, text})
	}
	b.report.MalformedMore += f.more
	b.report.Feeds++
	old := b.feeds[f.kind]
	switch {
	case old != nil && f.Date.Before(old.Date):
		b.report.OlderFeeds = append(b.report.OlderFeeds, fmt.Sprintf("%s: %s of %s; there is "+
			"one of %s", name, f.kind, formatDate(f.Date), formatDate(old.Date)))
		return
	case old != nil && len(f.entries) < len(old.entries)/2:
		b.addMalformed(Malformed{name, fmt.Sprintf("has %d entries where %d were known: not "+
			"imported", len(f.entries), len(old.entries))})
		return
	case old != nil && len(f.bad) > 0: // what was known of the broken ones stays
		known := feed{kind: f.kind, entries: f.entries}
		known.sortEntries()
		table := feedTable(known.encodeTable())
		for _, e := range old.entries {
			if _, again := table.findCVE(e.cve); !again {
				f.entries = append(f.entries, e)
			}
		}
	}
	f.sortEntries()
	b.feeds[f.kind] = f
}

// formatDate is the day of a time.
func formatDate(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// openFeeds takes over the feeds of a data file.
func (b *builder) openFeeds(f *File) {
	for kind, meta := range map[feedKind]*Feed{epss: f.meta.EPSS, kev: f.meta.KEV} {
		if meta == nil || b.feeds[kind] != nil && !meta.Date.After(b.feeds[kind].Date) {
			continue
		}
		held := &feed{kind: kind, Feed: *meta}
		for i := range f.feeds[kind].len() {
			held.entries = append(held.entries, f.feeds[kind].entryAt(i))
		}
		b.feeds[kind] = held
	}
}

// writeFeeds describes the feeds and returns their tables.
func (b *builder) writeFeeds(now time.Time) (tables [feedKinds][]byte) {
	for kind, f := range b.feeds {
		if f == nil {
			continue
		}
		if f.Imported.IsZero() {
			f.Imported = now
		}
		f.Entries = len(f.entries)
		switch feedKind(kind) {
		case epss:
			b.report.EPSS = &f.Feed
		case kev:
			b.report.KEV = &f.Feed
		}
		tables[kind] = f.encodeTable()
	}
	return tables
}
