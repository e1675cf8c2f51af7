package store_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/triage"
)

// A part is what a scan says of one image, or with an empty root of the code.
type part struct {
	root     string
	files    []string // each with the same flaw
	packages []string // names
	unseen   []string // files that could not be looked at
}

// stream writes the messages of a scan of the part.
func (p part) stream(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	analysis, analyzer, layer := finding.Container, "container/image", &finding.Layer{Digest: "sha256:1"}
	if p.root == "" {
		analysis, analyzer, layer = finding.SCA, "sca/dependencies", nil
	}
	must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{analysis}, Analyzers: []string{analyzer}}))
	rule := &finding.Rule{ID: string(analysis) + "/CVE-1", Analysis: analysis, Name: "A flaw", Severity: finding.High}
	must(h.Rule(rule))
	for _, name := range p.packages {
		must(h.Package(&finding.Package{Ecosystem: "Debian", Name: name, Version: "1", Path: p.root + "status",
			Layer: layer}))
	}
	for _, name := range p.files {
		must(h.Finding(&finding.Finding{
			RuleID: rule.ID, Analyzer: analyzer, Analysis: analysis, Severity: finding.High, Message: "a flaw",
			Layer:    layer,
			Location: finding.Location{Path: p.root + name}, Fingerprint: finding.NewFingerprint(rule.ID, name, "same",
				0).InComponent(p.root),
		}))
	}
	end := scan.Status{Analyzer: analyzer, Analysis: analysis, State: scan.Succeeded, Reasons: []scan.Reason{},
		Root: p.root}
	for _, name := range p.unseen {
		end.State = scan.Degraded
		end.Reasons = append(end.Reasons, scan.Reason{Code: "malformed", Message: "cut", Path: p.root + name})
	}
	must(h.Status(&end))
	return b.Bytes()
}

// branch returns the places of what is open on the branch, and its packages.
func (s *findingStore) branch(name string) (open, packages []string) {
	s.t.Helper()
	err := s.db.Known(s.t.Context(), s.sc, name, func(k triage.Existing) error {
		if !k.Gone {
			open = append(open, k.Path)
		}
		return nil
	})
	if err == nil {
		err = s.db.KnownPackages(s.t.Context(), s.sc, name, func(p triage.ExistingPackage) error {
			packages = append(packages, p.Path)
			return nil
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return open, packages
}

// TestImagesOfABranch scans code and two images on one branch: none of the scans
// says anything of what the others looked at.
func TestImagesOfABranch(t *testing.T) {
	const web, webAPI = "docker.io/acme/web:/", "docker.io/acme/web/api:/"
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.ingest("main", part{files: []string{"go.mod"}, packages: []string{"a"}}.stream(t))
		s.ingest("main", part{root: web, files: []string{"status", "app"}, packages: []string{"libc"}}.stream(t))
		out := s.ingest("main", part{root: webAPI, files: []string{"status"}, packages: []string{"libc"}}.stream(t))
		if out.Changes.New != 1 || out.Changes.Resolved != 0 || out.Changes.Moved != 0 {
			t.Errorf("the second image: %+v", out.Changes)
		}

		// Built again: the same flaws are the same findings.
		out = s.ingest("main", part{root: web, files: []string{"status", "app"}, packages: []string{"libc"}}.stream(t))
		if out.Changes.Unchanged != 2 || out.Changes.New != 0 {
			t.Errorf("the first image again: %+v", out.Changes)
		}

		for _, c := range []struct {
			name           string
			scan           part
			resolved       int
			open, packages []string
		}{
			{
				"the code without anything", part{}, 1,
				[]string{web + "app", webAPI + "status", web + "status"}, []string{webAPI + "status", web + "status"},
			},
			{
				"an image of which not all was seen", part{root: web, unseen: []string{"status"}}, 1,
				[]string{webAPI + "status", web + "status"}, []string{webAPI + "status", web + "status"},
			},
			{
				"an image without anything", part{root: web}, 1,
				[]string{webAPI + "status"}, []string{webAPI + "status"},
			},
			{
				"a third image", part{root: "docker.io/acme/other:/", files: []string{"status"}}, 0,
				[]string{"docker.io/acme/other:/status", webAPI + "status"}, []string{webAPI + "status"},
			},
		} {
			out := s.ingest("main", c.scan.stream(t))
			if out.Changes.Resolved != c.resolved {
				t.Errorf("%s: %d resolved, want %d", c.name, out.Changes.Resolved, c.resolved)
			}
			open, packages := s.branch("main")
			less := cmp.Transformer("set", func(list []string) map[string]int {
				set := map[string]int{}
				for _, v := range list {
					set[v]++
				}
				return set
			})
			if d := cmp.Diff(c.open, open, less); d != "" {
				t.Errorf("%s: open (-want +got):\n%s", c.name, d)
			}
			if d := cmp.Diff(c.packages, packages, less); d != "" {
				t.Errorf("%s: packages (-want +got):\n%s", c.name, d)
			}
		}
	})
}

// TestImageOnANewBranch does not take another image's flaw on the base branch for
// that of the image that is new: what nobody looked at has not moved.
func TestImageOnANewBranch(t *testing.T) {
	const web, other = "docker.io/acme/web:/", "docker.io/acme/other:/"
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.ingest("main", part{root: web, files: []string{"status"}}.stream(t))
		s.ingest("topic", part{root: other, files: []string{"status"}}.stream(t))
		s.ingest("later", part{root: web, files: []string{"lib/status"}}.stream(t)) // moved
		flaw := func(branch string) (f triage.Digest) {
			if err := db.Known(t.Context(), s.sc, branch, func(k triage.Existing) error {
				f = k.Flaw
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			return f
		}
		if flaw("topic") == flaw("main") {
			t.Error("the flaw of another image has the name of this one's")
		}
		if flaw("later") != flaw("main") {
			t.Error("the flaw that moved inside of the image has another name")
		}
	})
}
