package advisory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"merlon/internal/finding"
)

// This file reads one record in the OSV format
// (https://ossf.github.io/osv-schema/, version 1.7). A record that breaks the
// format does not vanish: where its packages can still be read, it stays with
// them as a problem, so that they do not look safe.

// Bounds of what is kept of one record. What is longer is cut, except names,
// which are dropped.
const (
	// in bytes, as all limits of texts below
	maxDetails    = 64 << 10
	maxSummary    = 1 << 10
	maxReferences = 200
	maxURL        = 2 << 10
	maxNames      = 500
	maxName       = 150 // of an advisory
	maxPackage    = 1 << 10
	maxVersion    = 256
)

// errNotOSV says that a JSON file is something else than a record.
var errNotOSV = errors.New("not an OSV record")

// A record is one OSV record, reduced to what is kept.
type record struct {
	details
	affected []affected
	salvaged bool // not read whole; affected names the packages only
}

// details is what a record says for people, and how bad it is.
type details struct {
	id        string
	names     []string // aliases, and ID first
	modified  time.Time
	published time.Time
	// the version of the OSV schema, "1.7.0"
	schema  string
	summary string
	// Markdown
	text       string
	severities []finding.AdvisorySeverity
	references []finding.AdvisoryReference
	cwe        []string
	label      string // a severity in words, lower case
	hit        bool   // in a look-up: the record affects the version
	dropped    bool   // withdrawn, or about no package: kept only to outlive older versions of itself
}

// affected is what a record says of one package.
type affected struct {
	number     uint32 // of the record in the data file
	ecosystem  string // with its suffix
	name       string
	names      []string // of the record, ID first
	severities []finding.AdvisorySeverity
	label      string
	// each sorted as in the record
	ranges [][]event
	// listed one by one, besides the ranges
	versions []string
	symbols  []finding.Symbols
	problem  string // why this cannot be compared with a version; empty when it can
}

// An event is a point where a range begins or ends.
type event struct {
	kind eventKind
	// as in the record; "0" means before the first version
	version string
}

// An eventKind is what begins or ends at a version.
type eventKind uint8

const (
	introduced eventKind = iota + 1
	fixed
	lastAffected
	limit
)

// The wire forms: encoding/json ignores what we do not keep.
type osvRecord struct {
	Schema     string         `json:"schema_version"`
	ID         string         `json:"id"`
	Modified   time.Time      `json:"modified"`
	Published  time.Time      `json:"published"`
	Withdrawn  *time.Time     `json:"withdrawn"`
	Aliases    []string       `json:"aliases"`
	Upstream   []string       `json:"upstream"`
	Summary    string         `json:"summary"`
	Details    string         `json:"details"`
	Severity   []osvSeverity  `json:"severity"`
	Affected   []osvAffected  `json:"affected"`
	References []osvReference `json:"references"`
	Database   osvDatabase    `json:"database_specific"`
}

// An osvSeverity is a score of a record.
type osvSeverity struct {
	Type  string `json:"type"`
	Score string `json:"score"`
}

// An osvReference is an address that tells more.
type osvReference struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// An osvAffected is a package that a record speaks of.
type osvAffected struct {
	Package   osvPackage    `json:"package"`
	Severity  []osvSeverity `json:"severity"`
	Ranges    []osvRange    `json:"ranges"`
	Versions  []string      `json:"versions"`
	Database  osvDatabase   `json:"database_specific"`
	Ecosystem osvDatabase   `json:"ecosystem_specific"`
}

// An osvPackage names a package.
type osvPackage struct {
	Ecosystem string `json:"ecosystem"`
	Name      string `json:"name"`
}

// An osvRange is a list of events that begin and end what is affected.
type osvRange struct {
	Type   string     `json:"type"`
	Events []osvEvent `json:"events"`
}

// An osvEvent is a version at which something begins or ends: one of its fields is set.
type osvEvent struct {
	Introduced   *string `json:"introduced"`
	Fixed        *string `json:"fixed"`
	LastAffected *string `json:"last_affected"`
	Limit        *string `json:"limit"`
}

// osvDatabase is a member that each database fills as it likes: a member of an
// unexpected type is no error there.
type osvDatabase struct {
	severity string
	cwe      []string
	info     string // RustSec: "unmaintained", "unsound", "notice"
	symbols  []finding.Symbols
}

// databaseMembers are those that are read; most databases have others only.
var databaseMembers = [][]byte{[]byte(`"severity"`), []byte(`"cwe_ids"`), []byte(`"informational"`),
	[]byte(`"imports"`), []byte(`"affects"`)}

// UnmarshalJSON implements json.Unmarshaler.
func (d *osvDatabase) UnmarshalJSON(b []byte) error {
	if !slices.ContainsFunc(databaseMembers, func(name []byte) bool { return bytes.Contains(b, name) }) {
		return nil
	}
	var m struct {
		Imports  any `json:"imports"`
		Affects  any `json:"affects"`
		Severity any `json:"severity"`
		CWE      any `json:"cwe_ids"`
		Info     any `json:"informational"`
	}
	if json.Unmarshal(b, &m) != nil {
		return nil
	}
	d.severity, _ = m.Severity.(string)
	d.info, _ = m.Info.(string)
	d.symbols = append(goSymbols(m.Imports), rustSymbols(m.Affects)...)
	list, _ := m.CWE.([]any)
	for _, v := range list {
		if s, ok := v.(string); ok && strings.HasPrefix(s, "CWE-") && len(s) <= 16 {
			d.cwe = append(d.cwe, s)
		}
	}
	return nil
}

// severityLabel is the severity in words, or empty.
func (d osvDatabase) severityLabel() string {
	if d.severity == "" && d.info != "" {
		return "low" // a note about a package, not a vulnerability
	}
	return strings.ToLower(d.severity)
}

// parseRecord reads the record of a file. The error names what is wrong; with it comes
// what could be saved of the record, or nil.
func parseRecord(file string, data []byte) (*record, error) {
	var o osvRecord
	err := json.Unmarshal(data, &o)
	if err == nil && !validName(o.ID) {
		err = errors.New("the record has no usable id")
	}
	if err != nil {
		return salvageRecord(file, data, err)
	}
	r := &record{details: o.toDetails()}
	if r.dropped {
		return r, nil
	}
	for i := range o.Affected {
		if a, ok := o.Affected[i].toAffected(r); ok {
			r.affected = append(r.affected, a)
			if a.problem != "" && err == nil {
				err = fmt.Errorf("%s %s: %s", a.ecosystem, a.name, a.problem)
			}
		}
	}
	if len(r.affected) == 0 {
		r.dropContent()
	}
	return r, err
}

// dropContent removes everything but what outlives an older version of the record.
func (r *record) dropContent() {
	r.details = details{id: r.id, names: []string{r.id}, modified: r.modified, dropped: true}
	r.affected = nil
}

// salvageRecord saves the id and the packages of a record that cannot be read whole:
// without them a scan would report its packages as not affected.
func salvageRecord(file string, data []byte, cause error) (*record, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, cause
	}
	if members["id"] == nil && members["affected"] == nil {
		return nil, errNotOSV
	}
	var list []json.RawMessage
	if json.Unmarshal(members["affected"], &list) != nil {
		return nil, cause
	}
	r := &record{details: details{id: fileID(file)}, salvaged: true}
	var id string
	if json.Unmarshal(members["id"], &id) == nil && validName(id) {
		r.id = id
	}
	if !validName(r.id) {
		return nil, cause
	}
	r.names = []string{r.id}
	for _, raw := range list {
		var a struct {
			Package osvPackage `json:"package"`
		}
		if json.Unmarshal(raw, &a) != nil || !a.Package.isValid() {
			return nil, cause
		}
		r.affected = append(r.affected, affected{
			ecosystem: a.Package.Ecosystem, name: a.Package.Name, names: r.names,
			problem: "the record cannot be read: " + truncate(cause.Error(), 200),
		})
	}
	if len(r.affected) == 0 {
		return nil, cause
	}
	return r, cause
}

// fileID is the id of the record that a file should hold.
func fileID(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

// validName reports whether s can be the name of an advisory.
func validName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
}

// isValid reports whether ecosystem and name are there and of a length that names have.
func (p osvPackage) isValid() bool {
	return p.Ecosystem != "" && p.Ecosystem[0] != scoreEcosystem[0] &&
		p.Name != "" && len(p.Ecosystem) <= maxPackage && len(p.Name) <= maxPackage
}

// toDetails returns what is kept of a record for people.
func (o *osvRecord) toDetails() details {
	d := details{
		id: o.ID, names: []string{o.ID}, modified: o.Modified.UTC(), published: o.Published.UTC(),
		schema: truncate(o.Schema, 20), summary: truncate(strings.TrimSpace(o.Summary), maxSummary),
		text:       truncate(o.Details, maxDetails),
		severities: reduceSeverities(o.Severity), cwe: o.Database.cwe, label: o.Database.severityLabel(),
	}
	if o.Withdrawn != nil {
		return details{id: o.ID, names: d.names, modified: d.modified, dropped: true}
	}
	for _, name := range o.Aliases {
		if validName(name) && !slices.Contains(d.names, name) && len(d.names) < maxNames {
			d.names = append(d.names, name)
		}
	}
	// A distribution's record about one upstream flaw is that flaw. One about
	// several is an update that fixes several, and stays by itself.
	if len(o.Aliases) == 0 && len(o.Upstream) == 1 && validName(o.Upstream[0]) && o.Upstream[0] != o.ID {
		d.names = append(d.names, o.Upstream[0])
	}
	for _, ref := range o.References {
		if len(d.references) < maxReferences && ref.URL != "" && len(ref.URL) <= maxURL {
			d.references = append(d.references, finding.AdvisoryReference{Type: truncate(ref.Type, 20), URL: ref.URL})
		}
	}
	return d
}

// reduceSeverities returns the scores that can be kept, at most ten.
func reduceSeverities(list []osvSeverity) []finding.AdvisorySeverity {
	var out []finding.AdvisorySeverity
	for _, s := range list {
		if s.Score != "" && len(s.Score) <= maxVersion && len(out) < 10 {
			out = append(out, finding.AdvisorySeverity{Type: truncate(s.Type, 20), Score: s.Score})
		}
	}
	return out
}

// toAffected returns what is kept; false when the entry names no package.
func (o *osvAffected) toAffected(r *record) (affected, bool) {
	if !o.Package.isValid() {
		return affected{}, false
	}
	a := affected{
		ecosystem: o.Package.Ecosystem, name: o.Package.Name, names: r.names,
		severities: reduceSeverities(o.Severity), versions: o.Versions,
		label: o.Database.severityLabel(),
	}
	if a.label == "" {
		a.label = o.Ecosystem.severityLabel()
	}
	a.symbols = append(o.Ecosystem.symbols, o.Database.symbols...)
	for _, v := range a.versions {
		if len(v) > maxVersion {
			a.problem = "a version is longer than 256 bytes"
		}
	}
	for i := range o.Ranges {
		if o.Ranges[i].Type == "GIT" { // commits, not versions
			continue
		}
		events, err := o.Ranges[i].toEvents(a.ecosystem)
		if err != nil {
			a.problem = err.Error()
			continue
		}
		a.ranges = append(a.ranges, events)
	}
	if len(a.ranges) == 0 && len(a.versions) == 0 && a.problem == "" {
		a.problem = "the record names no versions"
	}
	return a, true
}

// toEvents returns the events of a range in the order of their versions. The error says
// why the range cannot be evaluated.
func (o *osvRange) toEvents(ecosystem string) ([]event, error) {
	if o.Type != "SEMVER" && o.Type != "ECOSYSTEM" {
		return nil, fmt.Errorf("unknown type of range %q", truncate(o.Type, 20))
	}
	compare := newComparer(ecosystem)
	var events []event
	starts := false
	for _, e := range o.Events {
		for _, m := range []struct {
			kind    eventKind
			version *string
		}{{introduced, e.Introduced}, {fixed, e.Fixed}, {lastAffected, e.LastAffected}, {limit, e.Limit}} {
			if m.version == nil {
				continue
			}
			wild := m.kind == introduced && *m.version == "0" || m.kind == limit && *m.version == "*"
			if err := compare.checkVersion(*m.version); err != nil && !wild && !errors.Is(err, errNoOrder) {
				return nil, err
			}
			starts = starts || m.kind == introduced
			events = append(events, event{m.kind, *m.version})
		}
	}
	if !starts {
		return nil, errors.New("a range has no introduced event")
	}
	if err := compare.sortEvents(events); err != nil && !errors.Is(err, errNoOrder) {
		return nil, err
	}
	return events, nil
}

// truncate shortens s to at most n bytes at the border of a character.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
