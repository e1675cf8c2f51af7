package dependencies

import (
	"io"
	"io/fs"

	"merlon/internal/scan"
	"merlon/internal/upgrade"
)

// This file notes where manifests ask for the packages that are to be upgraded, while
// the tree is at hand.

// addDemands says for each match that an upgrade clears where the version is asked for.
func addDemands(p *scan.ProjectPass, matches []match) {
	read := cachedReader(p.FS)
	for i := range matches {
		m := &matches[i]
		if p.Context.Err() != nil {
			return // whoever called sees it
		}
		if m.Upgrade != "" {
			m.demand = upgrade.Locate(read, &m.pkg)
		}
		for j := range m.more {
			if o := &m.more[j]; o.Upgrade != "" && j < maxVersions {
				o.Requirement = upgrade.Locate(read, &o.Package)
			}
		}
	}
}

// Limits of the manifests that are read for it: of one, and how many are kept.
const (
	maxDemandFile  = 2 << 20
	maxDemandFiles = 500
)

// cachedReader returns a Reader that reads each file of the tree once.
func cachedReader(fsys fs.FS) upgrade.Reader {
	type content struct {
		text string
		ok   bool
	}
	known := map[string]content{}
	return func(path string) (string, bool) {
		c, seen := known[path]
		if !seen {
			c.text, c.ok = readManifest(fsys, path)
			if len(known) == maxDemandFiles {
				clear(known)
			}
			known[path] = c
		}
		return c.text, c.ok
	}
}

// readManifest reads a file; one that cannot be read asks for nothing, and the analysis
// of packages has said so before.
func readManifest(fsys fs.FS, path string) (string, bool) {
	f, err := fsys.Open(path)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // read only
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxDemandFile {
		return "", false
	}
	text, err := io.ReadAll(io.LimitReader(f, maxDemandFile))
	return string(text), err == nil
}
