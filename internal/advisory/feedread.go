package advisory

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file reads the feeds: EPSS as FIRST publishes it
// (https://www.first.org/epss/data_stats, CSV with a comment line before the
// header) and KEV as CISA does (JSON and CSV,
// https://www.cisa.gov/known-exploited-vulnerabilities-catalog). An entry that is
// broken is named; where its CVE can be read, it stays as far as it goes.

// maxFeed bounds a feed after decompression, in bytes.
const maxFeed = 256 << 20

// errNoFeed says that a file is something else than its name says.
var errNoFeed = errors.New("neither EPSS nor KEV")

// gunzip decompresses what begins as gzip does (RFC 1952), up to maxFeed bytes: a small
// file can expand to any size (CWE-409).
func gunzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot be decompressed: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, maxFeed+1))
	if err != nil {
		return nil, fmt.Errorf("cannot be decompressed: %w", err)
	}
	if len(out) > maxFeed {
		return nil, fmt.Errorf("is larger than %d MiB", maxFeed>>20)
	}
	return out, nil
}

// parseCSV reads a CSV file that may be a feed, compressed or not. One whose name
// says that it is a feed must be one.
func parseCSV(name string, data []byte) (*feed, error) {
	text, err := gunzip(data)
	if err == nil {
		// The content decides, because files are renamed after the download.
		head := string(bytes.ToLower(text[:min(len(text), 200)]))
		switch {
		case strings.HasPrefix(head, "#model_version") || strings.HasPrefix(head, "cve,epss"):
			return parseEPSS(string(text))
		case strings.HasPrefix(strings.TrimLeft(head, "\ufeff\""), "cveid"):
			return parseKEVTable(text)
		}
		err = errNoFeed
	}
	if isFeedName(name) {
		return nil, err
	}
	return nil, errNotOSV
}

// isFeedName reports whether a file's name says that it is a feed.
func isFeedName(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(base, "epss") || strings.HasPrefix(base, "known_exploited") ||
		strings.HasPrefix(base, "kev")
}

// parseEPSS reads lines of CVE, score and percentile.
func parseEPSS(text string) (*feed, error) {
	f := &feed{kind: epss}
	at := map[string]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			if err := f.readComment(line); err != nil {
				return nil, err
			}
		case len(at) == 0:
			// Columns are found by name: FIRST has added some over the years.
			for i, column := range strings.Split(strings.ToLower(line), ",") {
				at[strings.TrimSpace(column)] = i
			}
			for _, column := range []string{"cve", "epss", "percentile"} {
				if _, ok := at[column]; !ok {
					return nil, fmt.Errorf("line %d names no column %q", n, column)
				}
			}
		default:
			f.readScore(n, line, at)
		}
	}
	// The date decides which of two feeds is newer.
	if f.Date.IsZero() {
		return nil, errors.New("it does not state the date of its scores")
	}
	if len(f.entries) == 0 {
		return nil, errors.New("it contains no score")
	}
	return f, nil
}

// readComment reads "#model_version:v2025.03.14,score_date:2025-06-01T00:00:00+0000".
func (f *feed) readComment(line string) error {
	for part := range strings.SplitSeq(strings.TrimPrefix(line, "#"), ",") {
		key, value, _ := strings.Cut(part, ":")
		switch strings.TrimSpace(key) {
		case "model_version":
			f.Version = truncate(value, 40)
		case "score_date":
			t, err := parseDate(value)
			if err != nil {
				return fmt.Errorf("its day %q cannot be read", truncate(value, 40))
			}
			f.Date = t
		}
	}
	return nil
}

// parseDate reads a day or a time in one of the forms that the feeds use.
func parseDate(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{"2006-01-02T15:04:05-0700", time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && t.Unix() > 0 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("no date")
}

// readScore reads a line of EPSS by the columns of its header.
func (f *feed) readScore(n int, line string, at map[string]int) {
	cells := strings.Split(line, ",")
	cell := func(column string) string {
		if i := at[column]; i < len(cells) {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	cve, ok := parseCVE(cell("cve"))
	score, scoreOK := parseFraction(cell("epss"))
	percentile, percentileOK := parseFraction(cell("percentile"))
	if !ok || !scoreOK || !percentileOK {
		f.addProblem("line %d: %q is no CVE with its score and percentile", n, truncate(line, 80))
		return
	}
	f.entries = append(f.entries, feedEntry{cve, score, percentile})
}

// parseFraction reads a number from 0 to 1, as billionths.
func parseFraction(text string) (uint32, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, false
	}
	return uint32(math.Round(v * billion)), true
}

// kevEntry is an entry of the catalogue. Members are of any type, so that one
// that is wrong does not hide the others.
type kevEntry struct {
	CVE        any `json:"cveID"`
	Added      any `json:"dateAdded"`
	Due        any `json:"dueDate"`
	Ransomware any `json:"knownRansomwareCampaignUse"`
}

// parseKEV reads the catalogue as JSON; errNotOSV when it is something else.
func parseKEV(data []byte) (*feed, error) {
	var doc struct {
		Version  any               `json:"catalogVersion"`
		Released any               `json:"dateReleased"`
		Count    *int              `json:"count"`
		Entries  []json.RawMessage `json:"vulnerabilities"`
	}
	if json.Unmarshal(data, &doc) != nil || doc.Version == nil || doc.Entries == nil {
		return nil, errNotOSV
	}
	f := &feed{kind: kev}
	f.Version = truncate(fmt.Sprint(doc.Version), 40)
	var err error
	if f.Date, err = parseDate(fmt.Sprint(doc.Released)); err != nil {
		return nil, errors.New("the catalogue has no release date")
	}
	if doc.Count != nil && *doc.Count != len(doc.Entries) {
		return nil, fmt.Errorf("the catalogue has %d entries and declares %d", len(doc.Entries), *doc.Count)
	}
	for i, raw := range doc.Entries {
		var e kevEntry
		if json.Unmarshal(raw, &e) != nil {
			f.addProblem("entry %d is no object", i+1)
			continue
		}
		f.readKEV(fmt.Sprintf("entry %d", i+1), e)
	}
	if len(f.entries) == 0 {
		return nil, errors.New("the catalogue has no entry")
	}
	return f, nil
}

// parseKEVTable reads the catalogue as CSV. It does not say when it was released;
// the latest entry stands for that.
func parseKEVTable(text []byte) (*feed, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("its header cannot be read: %w", err)
	}
	head = slices.Clone(head)
	f := &feed{kind: kev}
	latest := uint32(0)
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			f.addProblem("line %d: %v", broken.StartLine, broken.Err)
			continue
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		cell := func(column string) any {
			if i := slices.Index(head, column); i >= 0 && i < len(cells) {
				return cells[i]
			}
			return ""
		}
		f.readKEV(fmt.Sprintf("line %d", line), kevEntry{cell("cveID"), cell("dateAdded"), cell("dueDate"),
			cell("knownRansomwareCampaignUse")})
	}
	for _, e := range f.entries {
		latest = max(latest, e.a>>16)
	}
	if latest == 0 {
		return nil, errors.New("the catalogue has no entry with a date")
	}
	f.Date = time.Unix(int64(latest)*86400, 0).UTC()
	return f, nil
}

// readKEV takes an entry. One whose days cannot be read counts all the same.
func (f *feed) readKEV(where string, e kevEntry) {
	text := func(v any) string {
		s, _ := v.(string)
		return strings.TrimSpace(s)
	}
	cve, ok := parseCVE(text(e.CVE))
	if !ok {
		f.addProblem("%s: %q is no CVE", where, truncate(fmt.Sprint(e.CVE), 40))
		return
	}
	added, due := parseDay(text(e.Added)), parseDay(text(e.Due))
	if added == 0 {
		f.addProblem("%s: the day %q when %s was added cannot be read", where, truncate(fmt.Sprint(e.Added), 40),
			text(e.CVE))
	}
	entry := feedEntry{cve: cve, a: added<<16 | due}
	if strings.EqualFold(text(e.Ransomware), "known") {
		entry.b = 1
	}
	f.entries = append(f.entries, entry)
}
