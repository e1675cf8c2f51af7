package image

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"merlon/internal/finding"
	oci "merlon/internal/image"
	"merlon/internal/image/imagetest"
	"merlon/internal/scan"
)

// result is what a scan of an image says.
type result struct {
	scan.Summary
	packages []finding.Package
	findings []finding.Finding
	rules    map[string]*finding.Rule
}

func (r *result) Package(m *finding.Package) error {
	r.packages = append(r.packages, *m)
	return r.Summary.Package(m)
}

func (r *result) Finding(m *finding.Finding) error {
	r.findings = append(r.findings, *m)
	return r.Summary.Finding(m)
}

func (r *result) Rule(m *finding.Rule) error {
	r.rules[m.ID] = m
	return nil
}

// reasons lists why the analyzer did not see everything.
func (r *result) reasons() []string {
	var out []string
	for _, s := range r.Statuses {
		for _, reason := range s.Reasons {
			out = append(out, reason.Code+" "+reason.Path)
		}
	}
	return out
}

// examine scans an image of the layers.
func examine(t *testing.T, o scan.Options, config v1.Config, layers ...imagetest.Layer) *result {
	t.Helper()
	return examineFile(t, o, imagetest.Save(t, imagetest.Build(t, config, layers...), "example.test/app:1"))
}

func examineFile(t *testing.T, o scan.Options, at string) *result {
	t.Helper()
	img, err := oci.Open(context.Background(), at, oci.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	o.Image, o.Analyzers = img, []*scan.Analyzer{Analyzer}
	r := &result{rules: map[string]*finding.Rule{}}
	var stream bytes.Buffer
	if err := scan.Run(context.Background(), o, scan.Tee(r, scan.Encode(&stream))); err != nil {
		t.Fatal(err)
	}
	if err := scan.Decode(&stream, &scan.Summary{}); err != nil {
		t.Errorf("the stream is not whole: %v", err)
	}
	return r
}

// line makes a package's line: ecosystem, name, version, path, layer.
func line(p finding.Package) string {
	return fmt.Sprintf("%s %s %s %s %d", p.Ecosystem, p.Name, p.Version, p.Path, p.Layer.Index)
}

func packagesOf(r *result) []string {
	var out []string
	for _, p := range r.packages {
		out = append(out, line(p))
	}
	return out
}

func deb(fields ...string) string {
	return fmt.Sprintf("Package: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\n%s\n", fields[0],
		fields[1], strings.Join(fields[2:], "\n"))
}

const debian12 = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n"

// Packages are those that the image shows, each with the layer that brought it.
func TestPackages(t *testing.T) {
	first, second := deb("libssl3", "3.0.11-1", "Source: openssl\n"), deb("curl", "7.88.1-10")
	npm := func(name, version string) string { return fmt.Sprintf(`{"name": %q, "version": %q}`, name, version) }
	r := examine(t, scan.Options{}, v1.Config{},
		imagetest.Layer{Step: "ADD rootfs.tar / # buildkit", Files: []imagetest.File{
			{Name: "usr/lib/os-release", Content: debian12}, {Name: "etc/os-release", Type: tar.TypeSymlink,
				Link: "../usr/lib/os-release"},
			{Name: "var/lib/dpkg/status", Content: first + "Package: gone\nStatus: deinstall ok " +
				"config-files\nVersion: 1\n\n"}}},
		imagetest.Layer{Step: "CMD [\"bash\"]"},
		imagetest.Layer{Step: "RUN /bin/sh -c apt-get install curl # buildkit", Files: []imagetest.File{
			{Name: "var/lib/dpkg/status", Content: first + second},
			{Name: "app/node_modules/a/package.json", Content: npm("a", "1.0.0")},
			{Name: "app/node_modules/b/package.json", Content: npm("b", "1.0.0")},
			{Name: "app/node_modules/c/package.json", Content: npm("c", "1.0.0")},
			{Name: "opt/old/node_modules/d/package.json", Content: npm("d", "1.0.0")},
			{Name: "file/node_modules/e/package.json", Content: npm("e", "1.0.0")}}},
		imagetest.Layer{Step: "COPY . /app", Zstd: true, Files: []imagetest.File{
			{Name: "app/node_modules/.wh.b"}, {Name: "app/node_modules/a/package.json", Content: npm("a", "1.0.0")},
			{Name: "app/node_modules/c/package.json", Content: npm("c", "2.0.0")}, {Name: "opt/old/.wh..wh..opq"},
			{Name: "opt/old/node_modules/f/package.json", Content: npm("f", "1.0.0")},
			{Name: "file", Content: "a file where a folder was"},
			{Name: "app/vendor/composer/installed.json",
				Content: `{"packages":[{"name":"vendor/lib","version":"v1.2.0"}]}`},
			{Name: "app/lib/python3.11/site-packages/six-1.16.0.dist-info/METADATA", Content: "Metadata-Version: " +
				"2.1\nName: six\nVersion: 1.16.0\n\n"},
			{Name: "usr/lib/ruby/gems/3.1.0/specifications/rake-13.0.6.gemspec", Content: "Gem::Specification.new do " +
				"|s|\n  s.name = \"rake\".freeze\n  s.version = \"13.0.6\"\nend\n"},
			{Name: "app/app.war", Content: war(t)}}})
	want := []string{
		"Maven com.example:inner 2.0 app/app.war 2",
		"npm a 1.0.0 app/node_modules/a/package.json 1",
		"npm c 2.0.0 app/node_modules/c/package.json 2",
		"npm f 1.0.0 opt/old/node_modules/f/package.json 2",
		"PyPI six 1.16.0 app/lib/python3.11/site-packages/six-1.16.0.dist-info/METADATA 2",
		"Packagist vendor/lib v1.2.0 app/vendor/composer/installed.json 2",
		"RubyGems rake 13.0.6 usr/lib/ruby/gems/3.1.0/specifications/rake-13.0.6.gemspec 2",
		"Debian:12 libssl3 3.0.11-1 var/lib/dpkg/status 0",
		"Debian:12 curl 7.88.1-10 var/lib/dpkg/status 1",
	}
	got := packagesOf(r)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, p := range r.packages {
		switch p.Name {
		case "libssl3":
			if p.Source != "openssl" || p.PURL != "pkg:deb/debian/libssl3@3.0.11-1?arch=amd64&distro=debian-12" ||
				!p.Layer.Base {
				t.Errorf("libssl3: %+v, layer %+v", p, p.Layer)
			}
		case "curl":
			if p.Layer.Instruction != "RUN apt-get install curl" || p.Layer.Base ||
				!strings.HasPrefix(p.Layer.Digest, "sha256:") {
				t.Errorf("curl: layer %+v", p.Layer)
			}
		}
	}
	if diff := cmp.Diff([]string{"unavailable "}, r.reasons()); diff != "" {
		t.Errorf("reasons: %s", diff)
	}
}

// war is an archive with a library inside of it.
func war(t *testing.T) string {
	archive := func(files map[string]string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, content := range files {
			f, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	inner := archive(map[string]string{"META-INF/maven/com.example/inner/pom.properties": "groupId=com.example\nartifactId=inner\nversion=2.0\n"})
	return archive(map[string]string{"WEB-INF/lib/inner.jar": inner})
}

// A program tells what it was built from; this test is one.
func TestProgram(t *testing.T) {
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Skip("the program of this test cannot be read here")
	}
	r := examine(t, scan.Options{}, v1.Config{},
		imagetest.Layer{Step: "COPY app /app", Files: []imagetest.File{{Name: "app", Content: string(b), Mode: 0o755}}})
	got := packagesOf(r)
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "Go stdlib 1.") }) {
		t.Errorf("got %q", got)
	}
}

// What the library has no reader for, or one that tells less.
func TestOthers(t *testing.T) {
	r := examine(t, scan.Options{}, v1.Config{}, imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{
		{Name: "app/shop.deps.json",
			Content: `{"libraries":{"shop/1.0.0":{"type":"project"},"Serilog/3.1.1":{"type":"package"},"runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/8.0.0":{"type":"runtimepack"}}}`},
		{Name: "opt/bitnami/redis/.spdx-redis.spdx", Content: `{"spdxVersion":"SPDX-2.3","packages":[{"SPDXID":"r","name":"redis","versionInfo":"7.4.1-0","externalRefs":[{"referenceType":"purl","referenceLocator":"pkg:bitnami/redis@7.4.1-0"}]},
{"SPDXID":"g","name":"x","externalRefs":[{"referenceType":"purl","referenceLocator":"pkg:golang/example.org/x@v1.0.0"}]}]}`},
		{Name: "usr/local/lib/R/site-library/readr/DESCRIPTION", Content: "Title: Read\nPackage: readr\nVersion: " +
			"2.1.4\nDescription: reads\n    Package: no\nBuilt: R 4.3.0\n"},
		{Name: "usr/lib/R/library/stats/DESCRIPTION", Content: "Package: stats\nVersion: 4.3.0\nPriority: " +
			"base\nBuilt: R 4.3.0\n"},
		{Name: "src/library/own/DESCRIPTION", Content: "Package: own\nVersion: 1.0\n"},
	}})
	want := []string{
		"Bitnami redis 7.4.1 opt/bitnami/redis/.spdx-redis.spdx 0",
		"CRAN readr 2.1.4 usr/local/lib/R/site-library/readr/DESCRIPTION 0",
		"NuGet Microsoft.NETCore.App.Runtime.linux-x64 8.0.0 app/shop.deps.json 0",
		"NuGet Serilog 3.1.1 app/shop.deps.json 0",
	}
	got := packagesOf(r)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A hard link is the file that it names, whichever comes first.
func TestHardLinks(t *testing.T) {
	r := examine(t, scan.Options{}, v1.Config{}, imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{
		{Name: "a/package.json", Type: tar.TypeLink, Link: "store/1"},
		{Name: "store/1", Content: `{"name":"linked","version":"1.0.0"}`},
		{Name: "z/package.json", Type: tar.TypeLink, Link: "store/1"}}})
	if diff := cmp.Diff([]string{"npm linked 1.0.0 a/package.json 0", "npm linked 1.0.0 z/package.json 0"},
		packagesOf(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What an image is of decides where its packages are looked up.
func TestDistributions(t *testing.T) {
	for release, want := range map[string]string{
		debian12:      "debian Debian:12",
		"ID=debian\n": "debian ",
		"ID=ubuntu\nVERSION_ID=\"22.04\"\nVERSION=\"22.04.4 LTS (Jammy Jellyfish)\"\n": "ubuntu Ubuntu:22.04:LTS",
		"ID=ubuntu\nVERSION_ID=\"23.10\"\nVERSION=\"23.10 (Mantic)\"\n":                "ubuntu Ubuntu:23.10",
		"ID=alpine\nVERSION_ID=3.19.1\n":                                               "alpine Alpine:v3.19",
		"ID=alpine\nVERSION_ID=3.21_alpha2024\n":                                       "alpine Alpine:v3.21",
		"ID=\"rocky\"\nVERSION_ID=\"9.3\"\n":                                           "rocky Rocky Linux:9",
		"ID='almalinux'\nVERSION_ID='8.10'\n":                                          "almalinux AlmaLinux:8",
		"ID=wolfi\nVERSION_ID=20230201\n":                                              "wolfi Wolfi",
		"ID=chainguard\n":                                                              "chainguard Chainguard",
		"ID=rhel\nVERSION_ID=9.4\n":                                                    "rhel Red Hat:enterprise_linux:9::baseos",
		"ID=opensuse-leap\nVERSION_ID=15.5\n": "opensuse-leap " +
			"openSUSE:Leap 15.5",
		"ID=sles\nVERSION_ID=15.5\n": "sles SUSE:Linux Enterprise " +
			"Server 15 SP5",
		"ID=openEuler\nVERSION_ID=22.03\nVERSION=\"22.03 (LTS-SP3)\"\n": "openeuler openEuler:22.03-LTS-SP3",
		"ID=azurelinux\nVERSION_ID=3.0\n":                               "azurelinux Azure Linux:3",
		"ID=fedora\nVERSION_ID=40\n":                                    "fedora ",
		"# nothing\n":                                                   " ",
	} {
		d := parseRelease("etc/os-release", release)
		first := ""
		if len(d.ecosystems) > 0 {
			first = d.ecosystems[0]
		}
		if got := d.id + " " + first; got != want {
			t.Errorf("%q: got %q, want %q", release, got, want)
		}
	}
	if d := parseRelease("etc/redhat-release", "AlmaLinux release 9.3 (Shamrock Pampas Cat)\n"); d.id != "almalinux" ||
		d.version != "9.3" {
		t.Errorf("redhat-release: %+v", d)
	}
	if d := parseRelease("etc/alpine-release", "3.18.4\n"); !slices.Equal(d.ecosystems, []string{"Alpine:v3.18"}) {
		t.Errorf("alpine-release: %+v", d)
	}
}

// known is vulnerability data for tests: "ecosystem name" gives the advisories.
type known map[string][]scan.AdvisoryMatch

func (k known) Match(_ context.Context, ecosystem, name, _ string) ([]scan.AdvisoryMatch, error) {
	return k[ecosystem+" "+name], nil
}

func (k known) Knows(ecosystem string) bool {
	for key := range k {
		if strings.HasPrefix(key, ecosystemFamily(ecosystem)+":") ||
			strings.HasPrefix(key, ecosystemFamily(ecosystem)+" ") {
			return true
		}
	}
	return false
}

func (known) Data() scan.AdvisoryData { return scan.AdvisoryData{Records: 1} }

func flaw(id string) []scan.AdvisoryMatch {
	return []scan.AdvisoryMatch{{Advisory: &finding.Advisory{ID: id, Summary: "A flaw", Severity: finding.High},
		Fixed: []string{"9"}, Upgrade: "9"}}
}

// Vulnerabilities are looked up under the name of the source package, and one flaw of
// a source is one finding.
func TestVulnerabilities(t *testing.T) {
	data := known{"Debian:12 openssl": flaw("CVE-1"), "Alpine:v3.19 openssl": flaw("CVE-2"), "npm a": flaw("CVE-3"),
		"Debian:12 libssl3": flaw("CVE-9")}
	r := examine(t, scan.Options{Advisories: data}, v1.Config{User: "app"},
		imagetest.Layer{Step: "ADD rootfs.tar /", Files: []imagetest.File{
			{Name: "etc/os-release", Content: debian12},
			{Name: "var/lib/dpkg/status.d/libssl3", Content: "Package: libssl3\nVersion: 3.0.11-1\nSource: " +
				"openssl\nArchitecture: amd64\n"},
			{Name: "var/lib/dpkg/status.d/openssl", Content: "Package: openssl\nVersion: 3.0.11-1\nArchitecture: " +
				"amd64\n"},
			{Name: "var/lib/dpkg/status.d/openssl.md5sums", Content: "x"},
			{Name: "app/node_modules/a/package.json", Content: `{"name":"a","version":"1.0.0"}`}}})
	if diff := cmp.Diff([]string{
		"container/CVE-3 a 1.0.0 is affected by CVE-3 (fixed in 9)",
		"container/CVE-1 libssl3 3.0.11-1 (also openssl) is affected by CVE-1 (fixed in 9)",
	}, messages(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !r.Complete() {
		t.Errorf("reasons: %q", r.reasons())
	}
	f := r.findings[1]
	if f.Analysis != finding.Container || f.Package.Upgrade != "9" || f.Layer == nil ||
		r.rules[f.RuleID].Advisory == nil {
		t.Errorf("got %+v", f)
	}

	r = examine(t, scan.Options{Advisories: data}, v1.Config{User: "app"},
		imagetest.Layer{Step: "ADD alpine-minirootfs-3.19.1-x86_64.tar.gz / # buildkit", Files: []imagetest.File{
			{Name: "etc/os-release", Content: "ID=alpine\nVERSION_ID=3.19.1\n"},
			{Name: "lib/apk/db/installed",
				Content: "P:libcrypto3\nV:3.1.4-r2\nA:x86_64\no:openssl\n\nP:libssl3\nV:3.1.4-r2\nA:x86_64\no:openssl\n\n"}}})
	if diff := cmp.Diff([]string{"container/CVE-2 libcrypto3 3.1.4-r2 (also libssl3) is affected by CVE-2 " +
		"(fixed in 9)"}, messages(r)); diff != "" {
		t.Errorf("Alpine (-want +got):\n%s", diff)
	}
	if r.Setup.Image.Base != "alpine:3.19.1" {
		t.Errorf("base %q", r.Setup.Image.Base)
	}
}

func messages(r *result) []string {
	var out []string
	for _, f := range r.findings {
		out = append(out, f.RuleID+" "+f.Message)
	}
	return out
}

// What cannot be decided is said.
func TestDegraded(t *testing.T) {
	status := imagetest.File{Name: "var/lib/dpkg/status", Content: deb("libssl3", "3.0.11-1")}
	for name, c := range map[string]struct {
		files []imagetest.File
		want  []string
	}{
		"no os-release": {[]imagetest.File{status}, []string{"no-distribution "}},
		"no such advisories": {[]imagetest.File{status,
			{Name: "etc/os-release", Content: "ID=raspbian\nVERSION_ID=12\n"}}, []string{"no-data "}},
		"no data": {[]imagetest.File{status,
			{Name: "etc/os-release", Content: "ID=ubuntu\nVERSION_ID=23.10\n"}}, []string{"no-data "}},
		"no list of packages": {[]imagetest.File{{Name: "etc/os-release", Content: debian12}},
			[]string{"no-packages "}},
		"damaged database": {[]imagetest.File{{Name: "etc/os-release", Content: "ID=rocky\nVERSION_ID=9\n"},
			{Name: "var/lib/rpm/rpmdb.sqlite", Content: "no database"}},
			[]string{"no-packages ", "malformed var/lib/rpm/rpmdb.sqlite"}},
		"damaged package": {[]imagetest.File{{Name: "a/package.json", Content: "{"}},
			[]string{"malformed a/package.json"}},
		"too large": {[]imagetest.File{{Name: "a/package.json", Content: strings.Repeat(" ", 2<<20)}},
			[]string{"too-large a/package.json"}},
		"nothing": {[]imagetest.File{{Name: "a/b", Content: "x"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := examine(t, scan.Options{Advisories: known{"Debian:12 x": nil}, Limits: scan.Limits{FileSize: 1 << 20}},
				v1.Config{User: "app"}, imagetest.Layer{Step: "COPY . .", Files: c.files})
			if diff := cmp.Diff(c.want, r.reasons()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// token is a credential that the rules for secrets know.
const token = "gh" + "p_8Jk2mQpZ4vR7tX1nB6yC9wL3sD5fG0hAaEbU"

// A secret is told with its layer, also when a later layer deletes it, and never shown.
func TestSecrets(t *testing.T) {
	line := "token = \"" + token + "\"\n"
	layers := []imagetest.Layer{
		{Step: "ADD rootfs.tar /", Files: []imagetest.File{{Name: "usr/share/doc/example.txt", Content: line}}},
		{Step: "CMD [\"sh\"]"},
		{Step: "COPY . /srv", Files: []imagetest.File{{Name: "srv/deleted.py", Content: line},
			{Name: "srv/kept.py", Content: line}, {Name: "usr/share/html/config.js", Content: line},
			{Name: "srv/node_modules/a/index.js", Content: line}, {Name: "srv/moved/a.py", Content: line},
			{Name: "srv/binary", Content: "\x00" + line}}},
		{Step: "RUN /bin/sh -c rm deleted.py", Files: []imagetest.File{{Name: "srv/.wh.deleted.py"},
			{Name: "srv/kept.py", Content: "# again\n" + line}, {Name: "srv/.wh.moved"},
			{Name: "usr/share/run.txt", Content: line}}},
	}
	r := examine(t, scan.Options{}, v1.Config{User: "app"}, layers...)
	var got []string
	for _, f := range r.findings {
		got = append(got, fmt.Sprintf("%s %s %d deleted=%v", f.RuleID, f.Location.Path, f.Layer.Index, f.Layer.Deleted))
		b, err := json.Marshal(f)
		if err != nil || strings.Contains(string(b), token[4:]) {
			t.Errorf("%s shows the secret, or %v", b, err)
		}
		if f.Analysis != finding.Container || f.Secret == nil {
			t.Errorf("got %+v", f)
		}
	}
	if diff := cmp.Diff([]string{
		"secrets/credentials/github-pat srv/deleted.py 1 deleted=true",
		"secrets/credentials/github-pat srv/kept.py 1 deleted=false",
		"secrets/credentials/github-pat srv/moved/a.py 1 deleted=true",
		"secrets/credentials/github-pat usr/share/html/config.js 1 deleted=false",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A detector that crashes costs its file, not the scan.
func TestCrash(t *testing.T) {
	before := detectors
	defer func() { detectors = before }()
	detectors = []*scan.Analyzer{{Match: func(name string) bool {
		return name == "a/bad.txt"
	}, File: func(*scan.FilePass) error { panic("what was in the file") }}}
	r := examine(t, scan.Options{Advisories: known{"npm x": nil}}, v1.Config{User: "app"},
		imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{
			{Name: "a/bad.txt", Content: "x"}, {Name: "a/package.json", Content: `{"name":"a","version":"1.0.0"}`}}})
	if diff := cmp.Diff([]string{"panic a/bad.txt"}, r.reasons()); diff != "" || len(r.packages) != 1 {
		t.Errorf("%d packages, reasons (-want +got):\n%s", len(r.packages), diff)
	}
}

// The same image, built again with one more file, has the same fingerprints.
func TestFingerprintsAreStable(t *testing.T) {
	prints := func(more ...imagetest.File) []finding.Fingerprint {
		r := examine(t, scan.Options{Advisories: known{"npm a": flaw("CVE-3")}},
			v1.Config{Env: []string{"DB_PASSWORD=hunter2hunter2"}},
			imagetest.Layer{Step: "COPY . .", Files: append([]imagetest.File{
				{Name: "app/node_modules/a/package.json", Content: `{"name":"a","version":"1.0.0"}`},
				{Name: "app/a.py", Content: "token = \"" + token + "\"\n"}}, more...)})
		var out []finding.Fingerprint
		for _, f := range r.findings {
			out = append(out, f.Fingerprint)
		}
		return out
	}
	first := prints()
	if diff := cmp.Diff(first, prints(imagetest.File{Name: "app/z", Content: "z"})); diff != "" || len(first) != 4 {
		t.Errorf("%d findings (-first +second):\n%s", len(first), diff)
	}
}

// Layers that are damaged or too large degrade, and what was read of them holds.
func TestHostileLayers(t *testing.T) {
	big := imagetest.Layer{Step: "COPY . .",
		Files: []imagetest.File{{Name: "a/package.json", Content: `{"name":"a","version":"1.0.0"}`},
			{Name: "b", Content: strings.Repeat("\x00", 4<<20)},
			{Name: "c/package.json", Content: `{"name":"c","version":"1.0.0"}`}}}
	r := examine(t, scan.Options{Advisories: known{"npm x": nil}, Limits: scan.Limits{TotalSize: 1 << 20}},
		v1.Config{User: "app"}, big)
	if diff := cmp.Diff([]string{"npm a 1.0.0 a/package.json 0"}, packagesOf(r)); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"too-large "}, r.reasons()); diff != "" {
		t.Errorf("bomb: %s", diff)
	}
	r = examine(t, scan.Options{Advisories: known{"npm x": nil}, Limits: scan.Limits{Files: 2}}, v1.Config{User: "app"},
		big)
	if diff := cmp.Diff([]string{"too-large "}, r.reasons()); diff != "" {
		t.Errorf("entries: %s", diff)
	}
	dir := imagetest.Layout(t,
		map[string]v1.Image{"a": imagetest.Build(t, v1.Config{User: "app"}, big,
			imagetest.Layer{Step: "COPY",
				Files: []imagetest.File{{Name: "d/package.json", Content: `{"name":"d","version":"1.0.0"}`}}})})
	damageLargestBlob(t, dir)
	r = examineFile(t, scan.Options{Advisories: known{"npm x": nil}}, dir)
	if diff := cmp.Diff([]string{"malformed "}, r.reasons()); diff != "" {
		t.Errorf("damaged: %s", diff)
	}
	if got := packagesOf(r); !slices.Contains(got, "npm d 1.0.0 d/package.json 1") {
		t.Errorf("the other layer was not read: %q", got)
	}
}

func damageLargestBlob(t *testing.T, dir string) {
	folder := dir + "/blobs/sha256/"
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	largest, size := "", int64(0)
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Size() > size {
			largest, size = e.Name(), info.Size()
		}
	}
	if err := os.Truncate(folder+largest, size/2); err != nil {
		t.Fatal(err)
	}
}

// A scan of a tree has no part in images, and one of an image none in trees.
func TestTargets(t *testing.T) {
	r := &result{rules: map[string]*finding.Rule{}}
	o := scan.Options{Root: t.TempDir(), Analyzers: []*scan.Analyzer{Analyzer},
		Analyses: []finding.Analysis{finding.Container}}
	if err := scan.Run(context.Background(), o, r); err != nil {
		t.Fatal(err)
	}
	if s := r.Statuses; len(s) != 1 || s[0].State != scan.Failed ||
		!strings.Contains(s[0].Reasons[0].Message, "--image") {
		t.Errorf("got %+v", s)
	}
	r = examine(t, scan.Options{Analyses: []finding.Analysis{finding.SAST}}, v1.Config{},
		imagetest.Layer{Step: "COPY", Files: []imagetest.File{{Name: "a", Content: "a"}}})
	if s := r.Statuses; len(s) != 1 || s[0].State != scan.Failed {
		t.Errorf("got %+v", s)
	}
}

const lockText = `{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "app", "dependencies": {"a": "1.0.0"}},
"node_modules/a": {"version": "1.0.0"}, "node_modules/t": {"version": "2.0.0", "dev": true}}}`

// A lock file counts where nothing of it is installed.
func TestLockFiles(t *testing.T) {
	lock := imagetest.File{Name: "app/package-lock.json", Content: lockText}
	r := examine(t, scan.Options{}, v1.Config{},
		imagetest.Layer{Step: "COPY . .",
			Files: []imagetest.File{lock, {Name: "usr/lib/node_modules/x/package-lock.json", Content: lockText}}})
	if diff := cmp.Diff([]string{"npm a 1.0.0 app/package-lock.json 0"}, packagesOf(r)); diff != "" {
		t.Errorf("bundled (-want +got):\n%s", diff)
	}
	r = examine(t, scan.Options{}, v1.Config{},
		imagetest.Layer{Step: "COPY . .",
			Files: []imagetest.File{lock,
				{Name: "app/node_modules/a/package.json", Content: `{"name":"a","version":"1.0.0"}`}}})
	if diff := cmp.Diff([]string{"npm a 1.0.0 app/node_modules/a/package.json 0"}, packagesOf(r)); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
}

// A package that is installed twice is one finding with both places.
func TestCopies(t *testing.T) {
	npm := `{"name":"a","version":"1.0.0"}`
	r := examine(t, scan.Options{Advisories: known{"npm a": flaw("CVE-3")}}, v1.Config{User: "app"},
		imagetest.Layer{Step: "COPY . .", Files: []imagetest.File{
			{Name: "x/node_modules/a/package.json", Content: npm},
			{Name: "y/node_modules/a/package.json", Content: npm}}})
	if len(r.findings) != 1 || r.findings[0].Location.Path != "x/node_modules/a/package.json" ||
		len(r.findings[0].Also) != 1 || r.findings[0].Also[0].Path != "y/node_modules/a/package.json" {
		t.Errorf("got %+v", r.findings)
	}
}

// FuzzReaders reads files of any content under the names that readers want.
func FuzzReaders(f *testing.F) {
	names := []string{"etc/os-release", "var/lib/dpkg/status", "lib/apk/db/installed", "var/lib/rpm/Packages",
		"var/lib/rpm/Packages.db", "var/lib/rpm/rpmdb.sqlite", "a/package.json", "a.dist-info/METADATA",
		"a.jar", "gems/specifications/a.gemspec", "vendor/composer/installed.json", "a.deps.json",
		"opt/bitnami/a/.spdx-a.spdx", "R/library/a/DESCRIPTION", "a.egg", "app/package-lock.json", "app/Gemfile.lock"}
	for i, text := range []string{debian12, deb("a", "1"), "P:a\nV:1\n\n", "", "RpmP", "SQLite format 3\x00",
		`{"name":"a","version":"1"}`, "Name: a\nVersion: 1\n", "PK\x05\x06", "Gem::Specification.new do |s|",
		`[{"name":"a/b","version":"1"}]`, `{"libraries":{"a/1":{"type":"package"}}}`, lockText, "GEM\n"} {
		f.Add(uint8(i), []byte(text))
	}
	readers, err := makeReaders()
	if err != nil {
		f.Fatal(err)
	}
	e := &examination{readers: readers}
	f.Fuzz(func(t *testing.T, which uint8, content []byte) {
		name := names[int(which)%len(names)]
		r := e.readerFor(name)
		if r == nil {
			t.Fatalf("nobody reads %s", name)
		}
		items, _, err := r.readPackages(context.Background(), oci.Entry{Path: name, Size: int64(len(content))},
			bytes.NewReader(content))
		if err != nil && strings.Contains(err.Error(), "crashed") {
			t.Log(err)
		}
		for _, it := range items {
			if it.Name == "" || it.Path != name {
				t.Errorf("package %+v", it)
			}
			_ = it.packageURL(distribution{id: "debian", version: "12"})
		}
	})
}

// An image's package without a fix weighs less, one that is attacked most.
func TestWeigh(t *testing.T) {
	for name, c := range map[string]struct {
		advisory finding.Advisory
		upgrade  string
		want     finding.Severity
		terms    int
	}{
		"fixed":     {finding.Advisory{Severity: finding.Medium}, "2.0", finding.Medium, 0},
		"unfixed":   {finding.Advisory{Severity: finding.Medium}, "", finding.Medium, 1},
		"exploited": {finding.Advisory{Severity: finding.Medium, KEV: &finding.KEV{}}, "", finding.Critical, 0},
		"malicious": {finding.Advisory{Severity: finding.High, Malicious: true}, "", finding.Critical, 0},
	} {
		m := packageMatch{AdvisoryMatch: scan.AdvisoryMatch{Advisory: &c.advisory, Upgrade: c.upgrade}}
		if got, terms := m.weigh(); got != c.want || len(terms) != c.terms {
			t.Errorf("%s: %s with the terms %v, want %s with %d", name, got, terms, c.want, c.terms)
		}
	}
}
