package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/errs"
	"merlon/internal/run"
	"merlon/internal/scan"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
	"merlon/internal/tenant"
	"merlon/internal/triage"
)

// An imageModel is what becomes of the images of one repository, written down as
// simply as possible.
type imageModel struct {
	holds  map[string]map[string]bool // flaws by tag
	packs  map[string]map[string]bool // packages by tag
	states map[string]triage.Status   // of every flaw that was seen
}

// heldByOthers reports whether another tag holds the thing.
func heldByOthers(holds map[string]map[string]bool, tag, thing string) bool {
	for other, things := range holds {
		if other != tag && things[thing] {
			return true
		}
	}
	return false
}

func (m *imageModel) scan(i imageScan) {
	held := map[string]bool{}
	for _, flaw := range i.flaws {
		held[flaw] = true
		m.states[flaw] = triage.ToVerify
	}
	for flaw := range m.holds[i.tag] {
		if slices.Contains(i.unseen, flaw) {
			held[flaw] = true
		}
	}
	for flaw := range m.states {
		if !held[flaw] && !slices.Contains(i.unseen, flaw) && !heldByOthers(m.holds, i.tag, flaw) {
			m.states[flaw] = triage.Resolved
		}
	}
	m.holds[i.tag] = held
	m.packs[i.tag] = map[string]bool{}
	for _, name := range i.packs {
		m.packs[i.tag][name] = true
	}
}

func (m *imageModel) remove(tag string) {
	for flaw := range m.holds[tag] {
		if !heldByOthers(m.holds, tag, flaw) {
			m.states[flaw] = triage.Resolved
		}
	}
	delete(m.holds, tag)
	delete(m.packs, tag)
	if len(m.holds) == 0 {
		m.states = map[string]triage.Status{}
	}
}

// some returns a few of the names.
func some(r *rand.Rand, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(string) bool { return r.IntN(2) == 0 })
}

// randomImageStep scans or deletes an image, in the model and in the store.
func (s *findingStore) randomImageStep(m *imageModel, r *rand.Rand) {
	s.t.Helper()
	s.clock.Advance(time.Minute)
	tag := fmt.Sprint(r.IntN(3))
	if r.IntN(4) == 0 {
		err := s.db.DeleteImage(s.t.Context(), s.sc, s.image("main", tag))
		if _, there := m.holds[tag]; there != (err == nil) || !there && !errs.Is(err, errs.NotFound) {
			s.t.Errorf("delete tag %s, which is there: %v; got %v", tag, there, err)
		}
		if err == nil {
			m.remove(tag)
		}
		return
	}
	i := imageScan{tag: tag, flaws: some(r, "a", "b", "c", "d"), packs: some(r, "x", "y", "z"), os: &scan.OS{}}
	i.unseen = slices.DeleteFunc(some(r, "a", "b", "c", "d"), func(f string) bool {
		return r.IntN(2) == 0 || slices.Contains(i.flaws, f)
	})
	stream := i.stream(s.t)
	at := s.start("main")
	at.Image = &run.Image{Reference: "docker.io/acme/web:" + tag, Repository: "docker.io/acme/web"}
	c := &crashing{Store: s.db, left: r.IntN(6)}
	t := triage.New(c)
	t.BatchSize = 1 + r.IntN(4)
	for {
		if _, err := t.Ingest(s.t.Context(), s.sc, at, opener(stream)); err == nil {
			break
		} else if c.left >= 0 {
			s.t.Fatal(err)
		}
	}
	m.scan(i)
}

func TestImagesFollowTheModel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		for seed := range uint64(3) {
			s := newFindingStore(t, db, clock)
			m := &imageModel{map[string]map[string]bool{}, map[string]map[string]bool{}, map[string]triage.Status{}}
			r := rand.New(rand.NewPCG(seed, 7))
			for step := range 40 {
				s.randomImageStep(m, r)
				s.compareImages(m)
				if t.Failed() {
					t.Fatalf("seed %d, step %d", seed, step)
				}
			}
		}
	})
}

// compareImages compares everything that lists show with the model.
func (s *findingStore) compareImages(m *imageModel) {
	s.t.Helper()
	compare := func(what string, want, got any) {
		s.t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			s.t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	compare("findings", m.states, s.states(triage.Filter{}))
	images, packages := []string{}, map[string]bool{}
	for tag, flaws := range m.holds {
		want := map[string]triage.Status{}
		for flaw := range flaws {
			want[flaw] = triage.ToVerify
		}
		compare("findings of tag "+tag, want, s.states(triage.Filter{Image: s.image("main", tag)}))
		maps.Copy(packages, m.packs[tag])
		compare("packages of tag "+tag, slices.Sorted(maps.Keys(m.packs[tag])),
			append([]string(nil), s.packageNames(s.image("main", tag))...))
		images = append(images, fmt.Sprintf("main %s sha256:%s  high=%d", tag, tag, len(flaws)))
	}
	compare("packages", slices.Sorted(maps.Keys(packages)), append([]string(nil), s.packageNames("")...))
	slices.Sort(images)
	compare("images", images, s.images(triage.ImageQuery{}))
	wantStats(s.t, s)
}

// TestImagesAreTheirProjects calls every method of images as somebody whose scope is
// another organization's project, and with the scope's zero value.
func TestImagesAreTheirProjects(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		s := newFindingStore(t, db, clock)
		s.scanImage("main", imageScan{tag: "1", flaws: []string{"a"}, packs: []string{"x"}})
		page, err := db.Findings(t.Context(), s.sc, triage.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		id, image := page.Findings[0].ID, s.image("main", "1")
		if held, err := db.Holders(t.Context(), s.sc, id); err != nil || len(held) != 1 ||
			held[0].Reference != "docker.io/acme/web:1" {
			t.Errorf("images of the finding: %+v, %v", held, err)
		}
		other := newFindingStore(t, db, clock)
		mixed := s.sc
		mixed.Organization = other.sc.Organization
		for name, sc := range map[string]tenant.Scope{"stranger": other.sc, "zero": {}, "another organization's " +
			"project": mixed} {
			empty := func(what string, n int, err error) {
				t.Helper()
				if err != nil || n != 0 {
					t.Errorf("%s: %s: got %d, %v; want nothing", name, what, n, err)
				}
			}
			q := triage.ImageQuery{Sort: triage.ByLatestScan, Limit: 10}
			images, total, err := db.Images(t.Context(), sc, q)
			empty("images", len(images)+total, err)
			groups, err := db.ImageGroups(t.Context(), sc, q)
			empty("groups", len(groups.Groups)+groups.Total+groups.Tags, err)
			held, err := db.Holders(t.Context(), sc, id)
			empty("images of a finding", len(held), err)
			found, err := db.Findings(t.Context(), sc, triage.Query{Filter: triage.Filter{Image: image}, Limit: 10})
			empty("findings of an image", found.Total, err)
			_, total, err = db.Packages(t.Context(), sc, triage.PackageQuery{Images: true, Image: image, Limit: 10})
			empty("packages of an image", total, err)
			r := &run.Run{Branch: "main", Image: &run.Image{Reference: "docker.io/acme/web:2",
				Repository: "docker.io/acme/web"}}
			h, err := db.Holdings(t.Context(), sc, r)
			if sc.Organization != s.sc.Organization {
				empty("holdings", len(h.InImage)+len(h.InOtherImages), err)
			}
			if err := db.DeleteImage(t.Context(), sc, image); !errs.Is(err, errs.NotFound) &&
				!errs.Is(err, errs.Forbidden) {
				t.Errorf("%s: deleted: %v", name, err)
			}
		}
		// An image of another project says nothing of this one's findings.
		other.scanImage("main", imageScan{tag: "1", flaws: []string{"a"}})
		if got := s.states(triage.Filter{Image: other.image("main", "1")}); len(got) != 0 {
			t.Errorf("findings of another project's image: %v", got)
		}
	})
}
