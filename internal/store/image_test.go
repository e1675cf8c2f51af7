package store_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// An imageScan is what a scan says of an image of docker.io/acme/web.
type imageScan struct {
	tag    string
	flaws  []string // files, each with a flaw
	packs  []string // packages
	unseen []string // files that could not be looked at
	os     *scan.OS
	failed bool
	only   []finding.Severity // of which the run speaks
}

const webRoot = "docker.io/acme/web:/"

func (i imageScan) stream(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	const analyzer = "container/image"
	must(h.Config(&scan.Config{Tool: "merlon", Analyses: []finding.Analysis{finding.Container},
		Analyzers: []string{analyzer},
		Image: &scan.Image{Name: "web", Digest: "sha256:" + i.tag, Platform: "linux/amd64", Base: "debian:12",
			Layers: 2, Size: 1000}}))
	rule := &finding.Rule{ID: "container/CVE-1", Analysis: finding.Container, Name: "A flaw", Severity: finding.High}
	must(h.Rule(rule))
	layer := &finding.Layer{Index: 1, Digest: "sha256:1"}
	for _, name := range i.packs {
		must(h.Package(&finding.Package{Ecosystem: "Debian", Name: name, Version: "1", PURL: "pkg:deb/debian/" + name,
			Path: webRoot + "status", Layer: layer}))
	}
	for _, name := range i.flaws {
		must(h.Finding(&finding.Finding{
			RuleID: rule.ID, Analyzer: analyzer, Analysis: finding.Container, Severity: finding.High, Message: "a flaw",
			Layer: layer, Language: "dockerfile",
			Location: finding.Location{Path: webRoot + name}, Fingerprint: finding.NewFingerprint(rule.ID, name, name,
				0).InComponent(webRoot),
		}))
	}
	end := scan.Status{Analyzer: analyzer, Analysis: finding.Container, State: scan.Succeeded, Reasons: []scan.Reason{},
		Root: webRoot, OS: i.os}
	for _, name := range i.unseen {
		end.State = scan.Degraded
		end.Reasons = append(end.Reasons, scan.Reason{Code: "malformed", Message: "cut", Path: webRoot + name})
	}
	if i.failed {
		end.State, end.Reasons = scan.Failed, []scan.Reason{{Code: "malformed", Message: "no image"}}
	}
	must(h.Status(&end))
	return b.Bytes()
}

// scanImage applies a scan of an image to a branch, twice: the second time must
// change nothing.
func (s *findingStore) scanImage(branch string, i imageScan) run.Outcome {
	s.t.Helper()
	s.clock.Advance(time.Minute)
	r := s.start(branch)
	r.Image = &run.Image{Reference: "docker.io/acme/web:" + i.tag, Repository: "docker.io/acme/web", Severities: i.only}
	stream := i.stream(s.t)
	out, err := triage.New(s.db).Ingest(s.t.Context(), s.sc, r, opener(stream))
	if err != nil {
		s.t.Fatal(err)
	}
	again, err := triage.New(s.db).Ingest(s.t.Context(), s.sc, r, opener(stream))
	if err != nil {
		s.t.Fatal(err)
	}
	if d := cmp.Diff(out, again); d != "" {
		s.t.Errorf("applied again (-first +second):\n%s", d)
	}
	return out
}

// states returns the status of each finding of the branch by its file.
func (s *findingStore) states(f triage.Filter) map[string]triage.Status {
	s.t.Helper()
	page, err := s.db.Findings(s.t.Context(), s.sc, triage.Query{Filter: f, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]triage.Status{}
	for _, f := range page.Findings {
		out[f.Report.Location.Path[len(webRoot):]] = f.Status
	}
	if len(out) != page.Total {
		s.t.Errorf("%d findings, total %d", len(out), page.Total)
	}
	return out
}

// image returns the identifier of the image with the tag.
func (s *findingStore) image(branch, tag string) string {
	return triage.ImageID(s.sc.Project, branch, &run.Image{Reference: "docker.io/acme/web:" + tag})
}

// TestImagesShareFindings follows two tags of one repository.
func TestImagesShareFindings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.scanImage("main", imageScan{tag: "1", flaws: []string{"a", "b"}, packs: []string{"libc", "zlib"},
			os: &scan.OS{ID: "debian", Version: "12"}})
		out := s.scanImage("main", imageScan{tag: "2", flaws: []string{"b", "c"}, packs: []string{"libc", "curl"}})
		if out.Changes.New != 1 || out.Changes.Unchanged != 1 || out.Changes.Resolved != 0 {
			t.Errorf("the second tag: %+v", out.Changes)
		}
		open := func(names ...string) map[string]triage.Status {
			m := map[string]triage.Status{}
			for _, n := range names {
				m[n] = triage.ToVerify
			}
			return m
		}
		check := func(when string, f triage.Filter, want map[string]triage.Status) {
			t.Helper()
			if d := cmp.Diff(want, s.states(f)); d != "" {
				t.Errorf("%s (-want +got):\n%s", when, d)
			}
		}
		one, two := triage.Filter{Image: s.image("main", "1")}, triage.Filter{Image: s.image("main", "2")}
		check("both tags", triage.Filter{}, open("a", "b", "c"))
		check("tag 1", one, open("a", "b"))
		check("tag 2", two, open("b", "c"))
		if d := cmp.Diff([]string{"curl", "libc"}, s.packageNames(two.Image)); d != "" {
			t.Errorf("packages of tag 2 (-want +got):\n%s", d)
		}

		// What no tag has any more is gone; what could not be looked at stays.
		s.scanImage("main", imageScan{tag: "1", flaws: []string{"b"}, packs: []string{"libc"}})
		check("tag 1 without a", triage.Filter{}, map[string]triage.Status{"a": triage.Resolved, "b": triage.ToVerify,
			"c": triage.ToVerify})
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"b"}, packs: []string{"libc"}, unseen: []string{"c"}})
		check("tag 2 without a look at c", two, open("b", "c"))
		s.scanImage("main", imageScan{tag: "2", failed: true})
		check("tag 2 after a scan that failed", two, open("b", "c"))
		if d := cmp.Diff([]string{"libc"}, s.packageNames("")); d != "" {
			t.Errorf("packages (-want +got):\n%s", d)
		}

		// A run that speaks of other severities opens nothing, and takes nothing away.
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"a", "new"},
			only: []finding.Severity{finding.Critical}})
		check("tag 2 by critical ones alone", two, open("b", "c"))

		// Another branch is another story.
		s.scanImage("topic", imageScan{tag: "2"})
		check("tag 2 of main", two, open("b", "c"))
		wantStats(t, s)
	})
}

// wantStats compares the kept numbers of every branch with what is there.
func wantStats(t testing.TB, s *findingStore) {
	t.Helper()
	cells, err := s.db.ProjectCells(t.Context(), s.sc)
	if err != nil {
		t.Fatal(err)
	}
	kept, counted := map[string]int{}, map[string]int{}
	for _, c := range cells {
		kept[fmt.Sprint(c.Branch, c.Bucket)] += c.Count.N
	}
	for _, branch := range []string{"main", "topic"} {
		err := s.db.Known(t.Context(), s.sc, branch, func(k triage.Existing) error {
			counted[fmt.Sprint(branch, k.Bucket)]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(counted, kept); d != "" {
		t.Errorf("numbers of branches (-counted +kept):\n%s", d)
	}
}

func (s *findingStore) packageNames(image string) []string {
	s.t.Helper()
	found, _, err := s.db.Packages(s.t.Context(), s.sc, triage.PackageQuery{Images: true, Image: image, Limit: 100})
	if err != nil {
		s.t.Fatal(err)
	}
	names := []string{}
	for _, p := range found {
		names = append(names, p.Package.Name)
	}
	return names
}

// images returns the tags of a branch with their open findings of high severity.
func (s *findingStore) images(q triage.ImageQuery) []string {
	s.t.Helper()
	q.Limit, q.Sort, q.Severities = 100, triage.ByRepository, finding.Severities
	found, total, err := s.db.Images(s.t.Context(), s.sc, q)
	if err != nil {
		s.t.Fatal(err)
	}
	if total != len(found) {
		s.t.Errorf("%d images, total %d", len(found), total)
	}
	out := []string{}
	for _, i := range found {
		system := "?"
		if i.OS != nil {
			system = i.OS.ID + i.OS.Version
		}
		out = append(out, fmt.Sprintf("%s %s %s %s high=%d", i.Branch, i.Tag, i.Digest, system, i.Open[finding.High]))
	}
	return out
}

func TestDeletedImages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.scanImage("main", imageScan{tag: "1", flaws: []string{"a", "b"}, packs: []string{"libc", "zlib"},
			os: &scan.OS{}})
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"b"}, packs: []string{"libc"},
			os: &scan.OS{ID: "debian", Version: "12"}})
		s.scanImage("topic", imageScan{tag: "1", flaws: []string{"a"}})
		// does not come so far as to tell the system
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"b"}, packs: []string{"libc"}})
		if d := cmp.Diff([]string{"main 1 sha256:1  high=2", "topic 1 sha256:1 ? high=1", "main 2 sha256:2 " +
			"debian12 high=1"}, s.images(triage.ImageQuery{}), sortedLines); d != "" {
			t.Errorf("images (-want +got):\n%s", d)
		}
		if got := s.images(triage.ImageQuery{Branch: "main", Search: "WEB:2"}); len(got) != 1 {
			t.Errorf("searched: %q", got)
		}

		other := newFindingStore(t, db, clock)
		for name, sc := range map[string]tenant.Scope{"another project": other.sc,
			"another organization's scope": tenant.System(other.sc.Organization, other.sc.Team, s.sc.Project)} {
			if err := db.DeleteImage(t.Context(), sc, s.image("main", "1")); !errs.Is(err, errs.NotFound) {
				t.Errorf("deleted by %s: %v", name, err)
			}
		}
		remove := func(branch, tag string) {
			t.Helper()
			clock.Advance(time.Minute)
			if err := db.DeleteImage(t.Context(), s.sc, s.image(branch, tag)); err != nil {
				t.Fatal(err)
			}
			wantStats(t, s)
		}
		remove("main", "1")
		on := func(branch string) triage.Filter { return triage.Filter{Branch: branch} }
		if d := cmp.Diff(map[string]triage.Status{"a": triage.Resolved, "b": triage.ToVerify},
			s.states(on("main"))); d != "" {
			t.Errorf("without tag 1 (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{"libc"}, s.packageNames("")); d != "" {
			t.Errorf("packages without tag 1 (-want +got):\n%s", d)
		}
		page, err := db.Findings(t.Context(), s.sc,
			triage.Query{Filter: triage.Filter{Branch: "main", Statuses: []triage.Status{triage.Resolved}}, Limit: 1})
		if err != nil || len(page.Findings[0].History) != 1 || page.Findings[0].History[0].Reason != "the image was "+
			"deleted, and no other contains it" {
			t.Errorf("history %+v, %v", page.Findings, err)
		}
		if err := db.DeleteImage(t.Context(), s.sc, s.image("main", "1")); !errs.Is(err, errs.NotFound) {
			t.Errorf("deleted twice: %v", err)
		}
		remove("main", "2")
		if got := s.states(on("main")); len(got) != 0 || len(s.packageNames("")) != 0 {
			t.Errorf("without any tag: %v, %v", got, s.packageNames(""))
		}
		if d := cmp.Diff(map[string]triage.Status{"a": triage.ToVerify}, s.states(on("topic"))); d != "" {
			t.Errorf("the other branch (-want +got):\n%s", d)
		}
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"b"}})
		if d := cmp.Diff(map[string]triage.Status{"b": triage.ToVerify}, s.states(on("main"))); d != "" {
			t.Errorf("scanned again (-want +got):\n%s", d)
		}
		if _, err := db.VerifyAudit(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

var sortedLines = cmp.Transformer("sorted", func(list []string) []string { return slices.Sorted(slices.Values(list)) })

// TestDecisionsOutliveImages decides about a flaw of an image that is deleted and
// scanned again.
func TestDecisionsOutliveImages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		one := imageScan{tag: "1", flaws: []string{"a"}}
		s.scanImage("main", one)
		page, err := db.Findings(t.Context(), s.sc, triage.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Decide(t.Context(), s.sc, triage.Decision{Finding: page.Findings[0].ID, Status: triage.Ignored,
			Comment: "not ours"}); err != nil {
			t.Fatal(err)
		}
		if err := db.DeleteImage(t.Context(), s.sc, s.image("main", "1")); err != nil {
			t.Fatal(err)
		}
		s.scanImage("main", imageScan{tag: "2", flaws: []string{"a"}})
		if d := cmp.Diff(map[string]triage.Status{"a": triage.Ignored}, s.states(triage.Filter{})); d != "" {
			t.Errorf("scanned again (-want +got):\n%s", d)
		}
		wantStats(t, s)
	})
}

// TestManyImages scans more tags than a branch keeps.
func TestManyImages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		for n := range 102 {
			flaws := []string{"every"}
			if n < 2 {
				flaws = append(flaws, fmt.Sprint("early", n))
			}
			s.scanImage("main", imageScan{tag: fmt.Sprint(n), flaws: flaws})
		}
		found := s.images(triage.ImageQuery{})
		if len(found) != 100 {
			t.Errorf("%d images are kept", len(found))
		}
		want := map[string]triage.Status{"every": triage.ToVerify, "early0": triage.Resolved, "early1": triage.Resolved}
		if got := s.states(triage.Filter{}); !maps.Equal(got, want) {
			t.Errorf("findings %v, want %v", got, want)
		}
		wantStats(t, s)
	})
}

// TestImagesAndSource scans an image first: that says nothing of the source.
func TestImagesAndSource(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.ingest("main", part{files: []string{"go.mod"}}.stream(t))
		s.scanImage("topic", imageScan{tag: "1", flaws: []string{"a"}})
		b, err := db.Branch(t.Context(), s.sc, "topic")
		if err != nil || b.Scanned || b.Base != "main" {
			t.Fatalf("after a scan of an image: %+v, %v", b, err)
		}
		s.ingest("topic", part{files: []string{"sub/go.mod"}}.stream(t)) // the file moved
		flaws := map[triage.Digest]int{}
		for _, branch := range []string{"main", "topic"} {
			err := db.Known(t.Context(), s.sc, branch, func(k triage.Existing) error {
				if k.Bucket.Analysis == finding.SCA {
					flaws[k.Flaw]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(flaws) != 1 {
			t.Errorf("the flaw of the moved file is another one: %v", flaws)
		}
	})
}

// TestReferenceBranchOfImages scans an image on main in a project whose source is on
// another branch: the project's numbers stay those of the source.
func TestReferenceBranchOfImages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		branch := func() string {
			t.Helper()
			all, err := db.Standings(t.Context(), s.sc, []tenant.ProjectID{s.sc.Project})
			if err != nil {
				t.Fatal(err)
			}
			return all[s.sc.Project].Branch
		}
		s.scanImage("images", imageScan{tag: "1", flaws: []string{"a"}})
		if got := branch(); got != "images" {
			t.Errorf("with an image alone: %q", got)
		}
		s.ingest("develop", part{files: []string{"go.mod"}}.stream(t))
		s.scanImage("main", imageScan{tag: "1", flaws: []string{"a"}})
		if got := branch(); got != "develop" {
			t.Errorf("with source on develop: %q", got)
		}
	})
}
