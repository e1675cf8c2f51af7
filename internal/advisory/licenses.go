package advisory

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// This file keeps licences of packages beside the records. Many lock files name none (Go, Rust,
// Maven, Python, Yarn), and a scan fetches nothing: a site imports what a data set of the
// registries says, as a table of CSV that begins with "ecosystem,name,version,license". Each
// package is one record of an ecosystem that does not exist, so that the format of the data
// file, its merging and its bundles stay what they are.

// licenseEcosystem is that ecosystem; a record cannot name it.
const licenseEcosystem = "\x00licence"

// licenseColumns are the columns of the table, in any order. Without a version a row is about
// all versions.
var licenseColumns = []string{"ecosystem", "name", "version", "license"}

// maxLicense bounds a licence expression, in bytes.
const maxLicense = 500

// maxBadRows bounds the broken rows that an import names.
const maxBadRows = 100

// isLicenseTable reports whether a text begins as a table of licences does.
func isLicenseTable(text []byte) bool {
	head, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	columns := strings.Split(strings.ToLower(strings.TrimSpace(string(head))), ",")
	return len(columns) == len(licenseColumns) && !slices.ContainsFunc(licenseColumns, func(name string) bool {
		return !slices.Contains(columns, name)
	})
}

// licenseTable is what was read of a table.
type licenseTable struct {
	records []*record // one for each package, in the order of their first rows
	bad     []string  // what is wrong with rows
	more    int       // beyond those
}

// parseLicenses reads a table of licences. A broken row is named and left out.
func parseLicenses(text []byte) (*licenseTable, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.ReuseRecord, r.FieldsPerRecord = true, len(licenseColumns)
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[strings.ToLower(strings.TrimSpace(name))] = i
	}
	out := &licenseTable{}
	packages := map[string]*record{}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			out.addBad(err)
			if !errors.Is(err, csv.ErrFieldCount) {
				return out, nil // behind a broken quote nothing can be told apart
			}
			continue
		}
		if err := out.addRow(packages, row[at["ecosystem"]], row[at["name"]], strings.TrimSpace(row[at["version"]]),
			strings.TrimSpace(row[at["license"]])); err != nil {
			line, _ := r.FieldPos(0)
			out.addBad(fmt.Errorf("line %d: %w", line, err))
		}
	}
}

// addBad notes a broken row.
func (t *licenseTable) addBad(err error) {
	if len(t.bad) < maxBadRows {
		t.bad = append(t.bad, truncate(err.Error(), 300))
	} else {
		t.more++
	}
}

// addRow adds a row to the record of its package.
func (t *licenseTable) addRow(packages map[string]*record, ecosystem, name, version, license string) error {
	if !(osvPackage{Ecosystem: ecosystem, Name: name}).isValid() || len(version) > maxVersion {
		return errors.New("the row names no package")
	}
	if license == "" || len(license) > maxLicense {
		return errors.New("the row names no licence")
	}
	base, _ := splitEcosystem(ecosystem)
	if base == "Go" {
		version = strings.TrimPrefix(version, "v") // as lock files are read here
	}
	key := base + " " + normalName(base, name)
	one := affected{ecosystem: licenseEcosystem, name: strings.Clone(key), label: strings.Clone(license)}
	switch events, err := licenseRange(ecosystem, version); {
	case err != nil:
		return err
	case events != nil:
		one.ranges = [][]event{events}
	case version != "":
		one.versions = []string{strings.Clone(version)}
	}
	r := packages[key]
	if r == nil {
		id := "licence:" + key
		r = &record{details: details{id: id, names: []string{id}}}
		packages[one.name] = r
		t.records = append(t.records, r)
	}
	one.names = r.names
	// Most packages have one licence in all versions: their rows are one entry.
	if n := len(r.affected) - 1; n >= 0 && one.versions != nil && r.affected[n].label == license &&
		r.affected[n].versions != nil {
		r.affected[n].versions = append(r.affected[n].versions, one.versions[0])
		return nil
	}
	r.affected = append(r.affected, one)
	return nil
}

// licenseRange reads ">=1.0.0 <2.0.0", of which either part may be missing; nil for a version.
func licenseRange(ecosystem, text string) ([]event, error) {
	if !strings.ContainsAny(text, "<>") {
		return nil, nil
	}
	events := []event{{introduced, "0"}}
	compare := newComparer(ecosystem)
	for _, part := range strings.Fields(text) {
		from, isFrom := strings.CutPrefix(part, ">=")
		to, isTo := strings.CutPrefix(part, "<")
		version := from
		switch {
		case isFrom && len(events) == 1:
			events[0].version = strings.Clone(from)
		case isTo && len(events) == 1:
			version = to
			events = append(events, event{fixed, strings.Clone(to)})
		default:
			return nil, fmt.Errorf("%q is no range such as \">=1.0.0 <2.0.0\"", truncate(text, 60))
		}
		if err := compare.checkVersion(version); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// License returns the licence of a version of a package, as the imported table has it, or "".
func (f *File) License(ecosystem, name, version string) string {
	base, _ := splitEcosystem(ecosystem)
	list, err := f.findPackage(packageKey{licenseEcosystem, base + " " + normalName(base, name)})
	if err != nil || len(list) == 0 {
		return "" // a licence is no finding: a scan does not fail for it
	}
	for i := range list {
		if slices.Contains(list[i].versions, version) {
			return list[i].label
		}
	}
	compare := newComparer(ecosystem)
	for i := range list {
		for _, events := range list[i].ranges {
			if h, err := compare.inRange(events, version); err == nil && h.affected {
				return list[i].label
			}
		}
	}
	for i := range list {
		if len(list[i].versions) == 0 && len(list[i].ranges) == 0 {
			return list[i].label
		}
	}
	return ""
}
