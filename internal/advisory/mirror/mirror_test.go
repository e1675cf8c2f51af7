package mirror

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/advisory"
	"merlon/internal/errs"
	"merlon/internal/outbound"
)

var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// A site is a mirror on loopback.
type site struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex
	files   map[string]string
	asked   []string // path and status
	signer  ed25519.PrivateKey
	noTags  bool
	data    string // data file that updates go to
	options Options
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, files: map[string]string{}, data: filepath.Join(t.TempDir(), "data")}
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	client, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	s.options = Options{Base: s.server.URL + "/osv/", Client: client, Now: func() time.Time { return now }}
	return s
}

// ServeHTTP answers with a file, its digest or its signature.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := http.StatusOK
	defer func() { s.asked = append(s.asked, fmt.Sprint(strings.TrimPrefix(r.URL.Path, "/osv/"), " ", status)) }()
	text, ok := s.files[r.URL.Path]
	if path, sig := strings.CutSuffix(r.URL.Path, ".minisig"); !ok && sig && s.signer != nil {
		text, ok = sign(s.signer, []byte(s.files[path]), false), true
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text)))
	if s.noTags {
		tag = ""
	}
	switch {
	case !ok:
		status = http.StatusNotFound
	case tag != "" && r.Header.Get("If-None-Match") == tag:
		status = http.StatusNotModified
	}
	if tag != "" && ok {
		w.Header().Set("ETag", tag)
	}
	w.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = w.Write([]byte(text))
	}
}

// put puts a file below the base; an empty text removes it.
func (s *site) put(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files["/osv/"+path] = text; text == "" {
		delete(s.files, "/osv/"+path)
	}
}

// publish puts records of an ecosystem there: the zip, the list of changes and
// each alone.
func (s *site) publish(ecosystem string, records map[string]time.Time) {
	s.t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var list []string
	for id, modified := range records {
		text := fmt.Sprintf(`{"id":%q,"modified":%q,"affected":[{"package":{"ecosystem":%q,"name":%q},"versions":["1.0.0"]}]}`,
			id, modified.Format(time.RFC3339Nano), ecosystem, strings.ToLower(id))
		s.put(ecosystem+"/"+id+".json", text)
		list = append(list, modified.Format(time.RFC3339Nano)+","+id)
		w, err := z.Create(id + ".json")
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(list)
	slices.Reverse(list)
	s.put(ecosystem+"/all.zip", b.String())
	s.put(ecosystem+"/modified_id.csv", strings.Join(list, "\n")+"\n")
}

// update fetches and builds, and returns what was asked for, with its status.
func (s *site) update() (*Fetched, *advisory.Report, []string, error) {
	s.t.Helper()
	s.mu.Lock()
	s.asked = nil
	s.mu.Unlock()
	o, known := s.options, Known{Modified: func() (map[string]int64, error) { return advisory.Modified(s.data) }}
	o.Dir = s.t.TempDir()
	previous := ""
	if _, err := os.Stat(s.data); err == nil {
		f, err := advisory.Open(s.data)
		if err != nil {
			s.t.Fatal(err)
		}
		known.Mirror, previous = f.Meta().Mirror, s.data
		if err := f.Close(); err != nil {
			s.t.Fatal(err)
		}
	}
	fetched, err := Fetch(s.t.Context(), o, known)
	asked := slices.Sorted(slices.Values(s.asked))
	if err != nil || len(fetched.Sources) == 0 {
		return fetched, nil, asked, err
	}
	report, err := advisory.Build(s.t.Context(), advisory.BuildOptions{Sources: fetched.Sources, Previous: previous,
		Output: s.data, Mirror: fetched.Mirror, Now: now})
	return fetched, report, asked, err
}

func day(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 123456000, time.UTC) }

func wantAsked(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("asked for\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestUpdateIsDifferential(t *testing.T) {
	s := newSite(t)
	s.put("ecosystems.txt", "npm\nDebian:12\n[EMPTY]\nGitHub Actions\n")
	s.publish("npm", map[string]time.Time{"N-1": day(1), "N-2": day(2)})
	s.publish("GitHub Actions", map[string]time.Time{"G-1": day(1)})
	fetched, report, asked, err := s.update()
	if err != nil || report.Records != 3 || len(fetched.Changed) != 2 || len(fetched.Problems) != 0 {
		t.Fatalf("first: %+v, %+v, %v", fetched, report, err)
	}
	wantAsked(t, asked, "ecosystems.txt 200", "npm/all.zip 200", "npm/all.zip.sha256 404", "GitHub Actions/all.zip 200",
		"GitHub Actions/all.zip.sha256 404")

	fetched, report, asked, err = s.update()
	if err != nil || report != nil || len(fetched.Unchanged) != 2 || !fetched.Mirror.Checked.Equal(now) {
		t.Fatalf("nothing new: %+v, %+v, %v", fetched, report, err)
	}
	wantAsked(t, asked, "ecosystems.txt 200", "npm/modified_id.csv 200", "npm/modified_id.csv.sha256 404",
		"GitHub Actions/modified_id.csv 200", "GitHub Actions/modified_id.csv.sha256 404")

	s.publish("npm", map[string]time.Time{"N-1": day(1), "N-2": day(5), "N-3": day(4)})
	fetched, report, asked, err = s.update()
	if err != nil || report.Read != 2 || report.Records != 4 ||
		!slices.Equal(fetched.Changed, []string{"npm (2 records)"}) {
		t.Fatalf("two records: %+v, %+v, %v", fetched, report, err)
	}
	wantAsked(t, asked, "ecosystems.txt 200", "npm/modified_id.csv 200", "npm/modified_id.csv.sha256 404",
		"npm/N-2.json 200", "npm/N-3.json 200",
		"GitHub Actions/modified_id.csv 200", "GitHub Actions/modified_id.csv.sha256 404")

	// The list is known now, so that asking for it again costs nothing.
	_, _, asked, err = s.update()
	if err != nil {
		t.Fatal(err)
	}
	wantAsked(t, asked, "ecosystems.txt 200", "npm/modified_id.csv 304", "GitHub Actions/modified_id.csv 304")
}

// TestUpdateTakesOnlyWhatChangedOutOfTheZip is about more records than are fetched
// one by one.
func TestUpdateTakesOnlyWhatChangedOutOfTheZip(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm"}
	records := map[string]time.Time{}
	for i := range 50 {
		records[fmt.Sprintf("OLD-%d", i)] = day(1)
	}
	s.publish("npm", records)
	if _, _, _, err := s.update(); err != nil {
		t.Fatal(err)
	}
	for i := range maxSingle + 1 {
		records[fmt.Sprintf("NEW-%d", i)] = day(2)
	}
	s.publish("npm", records)
	fetched, report, asked, err := s.update()
	if err != nil || report.Read != maxSingle+1 || report.Records != len(records) {
		t.Fatalf("%+v, %+v, %v", fetched, report, err)
	}
	wantAsked(t, asked, "npm/modified_id.csv 200", "npm/modified_id.csv.sha256 404", "npm/all.zip 200",
		"npm/all.zip.sha256 404")
}

// TestUpdateWithoutAList goes by the zip's tag, and without one by its content.
func TestUpdateWithoutAList(t *testing.T) {
	for _, noTags := range []bool{false, true} {
		s := newSite(t)
		s.noTags = noTags
		s.options.Ecosystems = []string{"npm"}
		s.publish("npm", map[string]time.Time{"N-1": day(1)})
		s.put("npm/modified_id.csv", "")
		if _, report, _, err := s.update(); err != nil || report.Records != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		if fetched, report, _, err := s.update(); err != nil || report != nil || len(fetched.Unchanged) != 1 {
			t.Errorf("nothing new: %+v, %v", fetched, err)
		}
		s.publish("npm", map[string]time.Time{"N-1": day(1), "N-2": day(1)})
		s.put("npm/modified_id.csv", "no time,at all\n")
		if _, report, _, err := s.update(); err != nil || report == nil || report.Records != 2 {
			t.Errorf("a new record: %+v, %v", report, err)
		}
	}
}

// TestUpdateChecksDigests refuses what does not match, names it, and goes on with
// the others.
func TestUpdateChecksDigests(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm", "Go"}
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	s.publish("Go", map[string]time.Time{"G-1": day(1)})
	digest := func(path string) string {
		return fmt.Sprintf("%x  all.zip\n", sha256.Sum256([]byte(s.files["/osv/"+path])))
	}
	s.put("npm/all.zip.sha256", strings.Repeat("0", 64))
	s.put("Go/all.zip.sha256", digest("Go/all.zip"))
	fetched, report, _, err := s.update()
	if err != nil || report.Records != 1 || len(fetched.Problems) != 1 || !fetched.Mirror.Checked.IsZero() {
		t.Fatalf("%+v, %+v, %v", fetched, report, err)
	}
	if text := fetched.Problems[0].Error(); !strings.Contains(text, "npm/all.zip is refused") ||
		!strings.Contains(text, strings.Repeat("0", 64)) {
		t.Errorf("the problem is %q", text)
	}
	s.put("npm/all.zip.sha256", "<html>not here</html>")
	if fetched, _, _, err = s.update(); err != nil || len(fetched.Problems) != 0 {
		t.Errorf("a page instead of a digest: %+v, %v", fetched, err)
	}
	s = newSite(t)
	s.options.Ecosystems, s.options.Digest = []string{"npm"}, true
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	if _, _, _, err := s.update(); !errs.Is(err, errs.Forbidden) || !strings.Contains(err.Error(), "no digest") {
		t.Errorf("no digest: %v", err)
	}
	s.put("npm/all.zip.sha256", digest("npm/all.zip"))
	if _, report, _, err := s.update(); err != nil || report.Records != 1 {
		t.Errorf("with its digest: %+v, %v", report, err)
	}
}

func TestUpdateChecksSignatures(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm"}
	private, key := newKey(t)
	s.options.Key = key
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	if _, _, _, err := s.update(); !errs.Is(err, errs.Forbidden) || !strings.Contains(err.Error(), "npm/all.zip is "+
		"refused: there is no signature") {
		t.Errorf("not signed: %v", err)
	}
	other, _ := newKey(t)
	s.signer = other
	if _, _, _, err := s.update(); !errs.Is(err, errs.Forbidden) || !strings.Contains(err.Error(), "is invalid") {
		t.Errorf("signed by another: %v", err)
	}
	s.signer = private
	if _, report, _, err := s.update(); err != nil || report.Records != 1 {
		t.Fatalf("signed: %+v, %v", report, err)
	}
	// Single records are not signed, so they are not taken; the zip is.
	s.publish("npm", map[string]time.Time{"N-1": day(1), "N-2": day(2)})
	_, report, asked, err := s.update()
	if err != nil || report.Read != 1 || report.Records != 2 {
		t.Fatalf("signed: %+v, %v", report, err)
	}
	wantAsked(t, asked, "npm/modified_id.csv 200", "npm/modified_id.csv.sha256 404", "npm/modified_id.csv.minisig 200",
		"npm/all.zip 200", "npm/all.zip.sha256 404", "npm/all.zip.minisig 200")
	// A list of changes that is not signed is not believed.
	s.publish("npm", map[string]time.Time{"N-1": day(1), "N-2": day(2), "N-3": day(3)})
	s.put("npm/modified_id.csv", "2020-01-01T00:00:00Z,N-1\n")
	s.put("npm/modified_id.csv.minisig", "none")
	if _, report, _, err := s.update(); err != nil || report == nil || report.Records != 3 {
		t.Errorf("an unsigned list: %+v, %v", report, err)
	}
}

// TestUpdateFeeds takes EPSS and KEV from other places.
func TestUpdateFeeds(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm"}
	s.options.EPSS, s.options.KEV = s.server.URL+"/epss.csv.gz?token=secret", s.server.URL+"/kev"
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	s.files["/epss.csv.gz"] = "#model_version:v1,score_date:2026-11-19T00:00:00+0000\ncve,epss,percentile\nCVE-2020-1111,0.1,0.2\n"
	s.files["/kev"] = `{"catalogVersion":"1","dateReleased":"2026-11-18T00:00:00Z","vulnerabilities":[{"cveID":"CVE-2020-1111","dateAdded":"2021-12-10"}]}`
	fetched, report, _, err := s.update()
	if err != nil || len(fetched.Problems) != 0 || report.EPSS == nil || report.KEV == nil || report.KEV.Entries != 1 {
		t.Fatalf("%+v, %+v, %v", fetched, report, err)
	}
	for name := range fetched.Mirror.Files {
		if strings.Contains(name, "secret") {
			t.Errorf("a secret is remembered: %s", name)
		}
	}
	if fetched, report, _, err = s.update(); err != nil || report != nil || len(fetched.Unchanged) != 3 {
		t.Errorf("nothing new: %+v, %v", fetched, err)
	}
	s.files["/kev"] = "<html>sorry</html>"
	if _, report, _, err = s.update(); err != nil || len(report.Malformed) != 1 || report.KEV == nil {
		t.Errorf("a page: %+v, %v", report, err)
	}
}

// TestProblems names what could not be had; what was known stays.
func TestProblems(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm", "Go", "PyPI"}
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	s.put("Go/all.zip", "no zip")
	fetched, report, _, err := s.update()
	if err != nil || report.Records != 1 || len(fetched.Problems) != 2 {
		t.Fatalf("%+v, %+v, %v", fetched, report, err)
	}
	if text := fetched.Problems[0].Error(); !strings.HasPrefix(text, "Go: ") || !strings.Contains(text, "zip") {
		t.Errorf("got %q", text)
	}
	if text := fetched.Problems[1].Error(); !strings.HasPrefix(text, "PyPI: ") || !strings.Contains(text, "404") {
		t.Errorf("got %q", text)
	}
	for name, o := range map[string]Options{
		"nothing": {}, "no address": {Base: "mirror"}, "another kind": {EPSS: "ftp://user:pass@x/y"},
	} {
		if _, err := Fetch(t.Context(), o, Known{}); !errs.Is(err, errs.Invalid) ||
			strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, list := range []string{"", "../etc\n", "a/b\n", "[EMPTY]\n"} {
		other := newSite(t)
		if list != "" {
			other.put("ecosystems.txt", list)
		}
		if _, _, _, err := other.update(); err == nil {
			t.Errorf("a list %q is taken", list)
		}
	}
}

// TestAnotherMirror starts from the beginning: what another said is not believed.
func TestAnotherMirror(t *testing.T) {
	s := newSite(t)
	s.options.Ecosystems = []string{"npm"}
	s.publish("npm", map[string]time.Time{"N-1": day(1)})
	if _, _, _, err := s.update(); err != nil {
		t.Fatal(err)
	}
	s.files["/other/npm/all.zip"] = s.files["/osv/npm/all.zip"]
	s.options.Base = s.server.URL + "/other"
	if fetched, _, _, err := s.update(); err != nil || len(fetched.Changed) != 1 {
		t.Errorf("%+v, %v", fetched, err)
	}
}

func FuzzChanges(f *testing.F) {
	f.Add("2024-08-15T00:05:00.123Z,GHSA-1\n2023-08-15T00:05:00Z,npm/GHSA-2\n")
	f.Add(",\n")
	path := filepath.Join(f.TempDir(), "list")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := readChanges(path, map[string]int64{"GHSA-1": 1 << 50})
		if err == nil && changed["GHSA-1"] && !strings.Contains(text, "GHSA-1") {
			t.Error("a record comes from nowhere")
		}
		for id := range changed {
			if strings.ContainsAny(id, "/\\") || strings.HasPrefix(id, ".") {
				t.Errorf("%q is the name of a file elsewhere", id)
			}
		}
	})
}

// A table of licences follows its address as the feeds do.
func TestLicenses(t *testing.T) {
	s := newSite(t)
	s.publish("npm", map[string]time.Time{"A": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	s.put("ecosystems.txt", "npm\n")
	s.put("licences.csv", "ecosystem,name,version,license\nnpm,a,1.0.0,MIT\n")
	s.options.Licenses = s.server.URL + "/osv/licences.csv"
	_, report, _, err := s.update()
	if err != nil || report.Licenses != 1 || report.Records != 1 {
		t.Fatalf("got %+v, %v", report, err)
	}
	fetched, _, _, err := s.update()
	if err != nil || !slices.Contains(fetched.Unchanged, "licences") {
		t.Errorf("again: got %+v, %v", fetched, err)
	}
	f, err := advisory.Open(s.data)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // read only
	if got := f.License("npm", "a", "1.0.0"); got != "MIT" {
		t.Errorf("got %q", got)
	}
}
