package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/scan"
)

// inImage reports a package of the distribution with a flaw.
func (s *scanned) inImage(severity finding.Severity, cve, name, version string) *scanned {
	s.rule(&finding.Rule{ID: "container/" + cve, Analysis: finding.Container, Name: cve, Severity: severity,
		Advisory: &finding.Advisory{ID: cve, CVE: cve, Aliases: []string{cve}, Summary: cve}})
	p := finding.Package{Ecosystem: "Debian:12", Name: name, Version: version, PURL: "pkg:deb/debian/" + name + "@" +
		version, Path: "var/lib/dpkg/status",
		Layer: &finding.Layer{Index: 0, Digest: "sha256:base", Base: true}}
	s.packages = append(s.packages, &p)
	s.findings = append(s.findings, &finding.Finding{RuleID: "container/" + cve, Severity: severity, Message: name +
		" is affected", Layer: p.Layer,
		Location: finding.Location{Path: p.Path}, Package: &finding.PackageMatch{Package: p}})
	return s
}

// library reports a package of a language.
func (s *scanned) library(name string) *scanned {
	s.packages = append(s.packages, &finding.Package{Ecosystem: "npm", Name: name, Version: "1.0.0", PURL: "pkg:npm/" +
		name, Path: "app/package.json",
		Layer: &finding.Layer{Index: 1}})
	return s
}

// flaw reports something else in an image, a secret or a setting.
func (s *scanned) flaw(severity finding.Severity, rule, path string, secret *finding.SecretMatch) *scanned {
	s.rule(&finding.Rule{ID: rule, Analysis: finding.Container, Name: rule, Severity: severity, Language: "dockerfile"})
	s.findings = append(s.findings, &finding.Finding{RuleID: rule, Severity: severity, Message: rule,
		Language: "dockerfile",
		Location: finding.Location{Path: path}, Secret: secret, Layer: &finding.Layer{Index: 1}})
	return s
}

// nothing is a scan that finds nothing.
func nothing() *scanned { return &scanned{} }

// scanImage applies a scan of an image of docker.io/acme to a branch.
func (w *world) scanImage(branch, name string, s *scanned) run.Outcome {
	w.t.Helper()
	repository, tag, _ := strings.Cut("docker.io/acme/"+name, ":")
	image := &run.Image{Reference: repository + ":" + tag, Repository: repository}
	var b bytes.Buffer
	h := scan.Encode(&b)
	must := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	const analyzer = "container/image"
	must(h.Config(&scan.Config{Analyses: []finding.Analysis{finding.Container}, Analyzers: []string{analyzer},
		Image: &scan.Image{Name: name, Digest: "sha256:" + tag, Platform: "linux/amd64", Layers: 2, Size: 2048}}))
	for _, r := range s.rules {
		must(h.Rule(r))
	}
	for _, p := range s.packages {
		p.Path = image.Root() + p.Path
		must(h.Package(p))
	}
	for _, f := range s.findings {
		f.Analyzer, f.Analysis = analyzer, finding.Container
		f.Fingerprint = finding.NewFingerprint(f.RuleID, f.Location.Path, f.Message, 0).InComponent(image.Root())
		f.Location.Path = image.Root() + f.Location.Path
		must(h.Finding(f))
	}
	system := &scan.OS{}
	if len(s.packages) > 0 {
		system = &scan.OS{ID: "debian", Version: "12", Name: "Debian GNU/Linux 12 (bookworm)"}
	}
	must(h.Status(&scan.Status{Analyzer: analyzer, Analysis: finding.Container, State: scan.Succeeded,
		Reasons: []scan.Reason{}, Root: image.Root(), OS: system}))
	return w.apply(branch, image, b.Bytes())
}

// someImages scans two tags of one repository, another repository, and an image on
// another branch.
func (w *world) someImages() {
	w.t.Helper()
	web := func() *scanned {
		return (&scanned{}).inImage(finding.Critical, "CVE-2026-1", "openssl", "3.0.1").library("left-pad").
			flaw(finding.High, "secrets/credentials/aws-access-token", "app/.env",
				&finding.SecretMatch{Kind: "AWS access key", Redacted: "AKIA…"}).
			flaw(finding.Medium, "container/image/root-user", "image-config", nil)
	}
	w.scanImage("main", "web:1", web().inImage(finding.Low, "CVE-2026-2", "zlib", "1.2"))
	w.scanImage("main", "web:2", web())
	w.scanImage("main", "db:1", &scanned{})
	w.scanImage("topic", "web:1", web())
}

func TestImageLists(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		empty := w.as("read_only").Get(w.proj + "/results/container/images/grouped").Want(200)
		if got := empty.Value("groupedImages"); fmt.Sprint(got) != "[]" || empty.Value("totalPages") != 0.0 {
			t.Errorf("without images: %s", empty.Body)
		}
		w.someImages()
		get := func(query string) (names []string, total any) {
			t.Helper()
			answer := w.as("read_only").Get(w.proj + "/results/container/images" + query).Want(200)
			var body struct {
				Images []struct {
					ArtifactName, Branch string
					VulnCounts           struct{ Critical, High, Medium, Low, Unknown int }
				}
				GroupedImages []struct {
					RepositoryName, Branch string
					TagCount               int
					AggregatedVulnCounts   struct{ Critical, High, Medium, Low, Unknown int }
					Tags                   []struct{ Tag string }
				}
			}
			answer.Into(&body)
			for _, i := range body.Images {
				names = append(names, fmt.Sprint(i.ArtifactName, " ", i.Branch, " ", i.VulnCounts))
			}
			for _, g := range body.GroupedImages {
				names = append(names, fmt.Sprint(g.RepositoryName, " ", g.Branch, " ", g.TagCount, " ", g.Tags, " ",
					g.AggregatedVulnCounts))
			}
			if strings.HasPrefix(query, "/grouped") {
				return names, answer.Value("totalRepositories")
			}
			return names, answer.Value("totalImages")
		}
		const web1, web2, db, topic = "docker.io/acme/web:1 main {1 1 1 1 0}", "docker.io/acme/web:2 main {1 1 1 0 0}",
			"docker.io/acme/db:1 main {0 0 0 0 0}", "docker.io/acme/web:1 topic {1 1 1 0 0}"
		const webs, dbs, topics = "docker.io/acme/web main 2 [{2} {1}] {1 1 1 1 0}", "docker.io/acme/db main 1 [{1}] " +
			"{0 0 0 0 0}", "docker.io/acme/web topic 1 [{1}] {1 1 1 0 0}"
		for _, c := range []struct {
			query string
			want  []string
			total float64
		}{
			{"", []string{topic, db, web2, web1}, 4},
			{"?branch=main&limit=2&page=2", []string{web1}, 3},
			{"?branch=main&limit=2&page=9", nil, 3},
			{"?searchQuery=WEB:1", []string{topic, web1}, 2},
			{"/grouped", []string{topics, dbs, webs}, 3},
			{"/grouped?sort=latestScanAt&order=DESC&limit=100", []string{topics, dbs, webs}, 3},
			{"/grouped?sort=latestScanAt&order=asc", []string{webs, dbs, topics}, 3},
			{"/grouped?sort=repositoryName", []string{dbs, webs, topics}, 3},
			{"/grouped?sort=repositoryName&order=DESC&branch=main", []string{webs, dbs}, 2},
			{"/grouped?sort=tagCount", []string{webs, dbs, topics}, 3},
			{"/grouped?sort=tagCount&order=ASC&limit=1&page=3", []string{webs}, 3},
			{"/grouped?searchQuery=web:2", []string{webs}, 1},
			{"/grouped?searchQuery=%25", nil, 0},
		} {
			if got, total := get(c.query); !slices.Equal(got, c.want) || total != c.total {
				t.Errorf("%s: got %q, total %v; want %q, %v", c.query, got, total, c.want, c.total)
			}
		}
		for _, query := range []string{"?order=up", "/grouped?order=up"} {
			w.as("read_only").Get(w.proj + "/results/container/images" + query).Want(400)
		}
		// What the settings of the project hide is not counted.
		w.as("administrator").Patch(w.proj, map[string]any{"containerSeverities": []string{"critical"}}).Want(200)
		if got, _ := get("?searchQuery=web:2"); !slices.Equal(got, []string{"docker.io/acme/web:2 main {1 0 0 0 0}"}) {
			t.Errorf("with critical ones alone: %q", got)
		}
	})
}

// TestImageShapes compares whole answers with those of the contract.
func TestImageShapes(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scanImage("main", "web:1", (&scanned{}).inImage(finding.High, "CVE-2026-1", "openssl", "3.0.1"))
		at := "2026-11-20T09:01:00Z"
		list := w.as("read_only").Get(w.proj + "/results/container/images").Want(200)
		counts := map[string]any{"critical": 0.0, "high": 1.0, "medium": 0.0, "low": 0.0, "unknown": 0.0}
		project := strings.TrimPrefix(w.proj, "/project/")
		id, scanID := list.Text("images.0.id"), list.Text("images.0.scanId")
		tag := map[string]any{
			"id": id, "tag": "1", "scanId": scanID, "createdAt": at, "updatedAt": at, "vulnCounts": counts,
			"osFamily": "debian", "osName": "12",
			"os": "Debian GNU/Linux 12 (bookworm)", "branch": "main", "digest": "sha256:1", "platform": "linux/amd64",
			"size": 2048.0, "layers": 2.0, "state": "succeeded",
		}
		image := map[string]any{"projectId": project, "artifactName": "docker.io/acme/web:1",
			"repositoryName": "docker.io/acme/web"}
		for name, v := range tag {
			image[name] = v
		}
		want := map[string]any{"projectName": "Web", "images": []any{image}, "totalImages": 1.0, "totalPages": 1.0,
			"currentPage": 1.0, "pageSize": 100.0}
		var got map[string]any
		list.Into(&got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("images (-want +got):\n%s", d)
		}
		want = map[string]any{"projectName": "Web", "totalRepositories": 1.0, "totalTags": 1.0, "totalPages": 1.0,
			"currentPage": 1.0, "pageSize": 50.0,
			"groupedImages": []any{map[string]any{
				"repositoryName": "docker.io/acme/web", "projectId": project, "osFamily": "debian", "osName": "12",
				"os":     "Debian GNU/Linux 12 (bookworm)",
				"branch": "main", "tagCount": 1.0, "tags": []any{tag}, "aggregatedVulnCounts": counts,
				"latestScanAt": at}}}
		got = nil
		w.as("read_only").Get(w.proj + "/results/container/images/grouped?limit=50").Want(200).Into(&got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("groups (-want +got):\n%s", d)
		}
		w.scanImage("main", "web:1", &scanned{})
		if got := w.as("read_only").Get(w.proj +
			"/results/container/images").Want(200).Text("images.0.osFamily"); got != "none" {
			t.Errorf("an image without an os-release is of %q", got)
		}
	})
}

func TestFindingsOfImages(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scan("main", (&scanned{}).code(finding.SAST, finding.High, "x", "a.go", 1))
		w.someImages()
		images := w.as("read_only").Get(w.proj + "/results/container/images?branch=main&sort=repositoryName").Want(200)
		one, two := images.Text("images.1.id"), images.Text("images.2.id")
		for query, want := range map[string]int{
			"":                                  7, // four of main, and three of topic
			"?branch=main":                      4,
			"?imageId=" + one:                   4,
			"?imageId=" + strings.ToUpper(two):  3,
			"?imageId=" + two + "&branch=topic": 0,
			"?imageId=0198c0de-0000-8000-8000-000000000001":              0,
			"?imageId=" + one + "&severity=CRITICAL,low":                 2,
			"?imageId=" + one + "&status=resolved":                       0,
			"?imageId=" + one + "&classType=os-pkgs":                     2,
			"?imageId=" + one + "&classType=lang-pkgs":                   0,
			"?imageId=" + one + "&classType[]=secret&classType[]=config": 2,
			"?classType=SECRET&branch=main":                              1,
			"?classType=config&branch=main":                              1,
			"?imageId=" + one + "&searchQuery=zlib":                      1,
			"?imageId=" + one + "&hasAutofix=true":                       0,
			"?imageId=" + one + "&priority=very_low":                     0,
		} {
			l := w.list("container" + query)
			if l.Total != want || len(l.Vulnerabilities) != want {
				t.Errorf("%s: %d findings, total %d, want %d", query, len(l.Vulnerabilities), l.Total, want)
			}
		}
		for query, want := range map[string]float64{
			"?branch=main": 3, "?imageId=" + one: 3, "?imageId=" + two: 2, "?imageId=" + one + "&classType=os-pkgs": 2,
			"?imageId=" + one + "&classType=lang-pkgs": 1, "?imageId=" + one + "&classType=secret,config": 0,
			"?imageId=" + one + "&searchQuery=ssl": 1,
		} {
			answer := w.as("read_only").Get(w.proj + "/results/container/packages" + query).Want(200)
			if got := answer.Value("total"); got != want {
				t.Errorf("packages%s: %v, want %v", query, got, want)
			}
		}
		secret := w.list("container?imageId=" + one + "&classType=secret").Vulnerabilities[0].ID
		detail := w.as("read_only").Get(w.proj + "/results/container/" + secret).Want(200)
		for field, want := range map[string]any{
			"images.0.artifactName": "docker.io/acme/web:1", "images.1.tag": "2", "images.1.id": two,
			"container.classType":   "secret",
			"container.layer.index": 1.0, "container.layer.isBase": false,
		} {
			if got := detail.Value(field); got != want {
				t.Errorf("%s: %v, want %v", field, got, want)
			}
		}
		for _, query := range []string{"container?classType=os", "container?imageId=x",
			"container/packages?classType=os"} {
			w.as("read_only").Get(w.proj + "/results/" + query).Want(400)
		}
		if got := w.list("sast?imageId=" + one).Total; got != 0 {
			t.Errorf("findings in source of an image: %d", got)
		}
	})
}

func TestDeleteImage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.someImages()
		images := w.as("read_only").Get(w.proj + "/results/container/images?branch=main&sort=repositoryName").Want(200)
		path := func(n int) string {
			return w.proj + "/results/container/images/" + images.Text(fmt.Sprintf("images.%d.id", n))
		}
		other := newWorldIn(t, w)
		w.as("developer").Delete(path(1), nil).Want(403)
		w.as("stranger").Delete(path(1), nil).Want(404)
		w.As(other.admin).Delete(path(1), nil).Want(404)
		w.As(other.admin).Delete(strings.Replace(path(1), w.proj, other.project, 1), nil).Want(404)
		w.as("administrator").Delete(w.proj+"/results/container/images/x", nil).Want(400)

		w.as("administrator").Delete(path(1), nil).Want(200)
		w.as("administrator").Delete(path(1), nil).Want(404)
		if l := w.list("container?branch=main&status=resolved"); l.Total != 1 ||
			len(l.Vulnerabilities[0].HistoryItems) != 2 {
			t.Errorf("resolved with the image: %+v", l)
		}
		overview := func() string {
			return fmt.Sprint(w.as("read_only").Get(w.proj + "/results/overview").Want(200).Value("totalBySeverity"))
		}
		if got := overview(); !strings.Contains(got, "[count:1 severity:critical]") ||
			!strings.Contains(got, "[count:0 severity:low]") {
			t.Errorf("overview without one tag: %s", got)
		}
		w.as("administrator").Delete(path(2), nil).Want(200)
		if l := w.list("container?branch=main"); l.Total != 0 || l.VulnCountByType["container"] != 0 {
			t.Errorf("after the last tag: %+v", l)
		}
		if got := overview(); !strings.Contains(got, "[count:0 severity:critical]") {
			t.Errorf("overview without any tag: %s", got)
		}
		if got := w.list("container?branch=topic").Total; got != 3 {
			t.Errorf("findings of the other branch: %d", got)
		}
		log := w.as("administrator").Get(w.org + "/audit-log?page=1&pageSize=20").Want(200)
		if n := strings.Count(string(log.Body), `"image.delete"`); n != 2 ||
			!strings.Contains(string(log.Body), "docker.io/acme/web:1") {
			t.Errorf("%d records of the audit log:\n%s", n, log.Body)
		}
	})
}

// TestImageOfEmptyProject scans an image before anything else.
func TestImageOfEmptyProject(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.scanImage("images", "web:1", (&scanned{}).flaw(finding.High, "container/image/root-user", "image-config",
			nil))
		var project struct {
			Language []string
		}
		w.as("read_only").Get(w.proj).Want(200).Into(&project)
		if len(project.Language) != 0 {
			t.Errorf("languages of a project without source: %v", project.Language)
		}
		if got := fmt.Sprint(w.as("read_only").Get(w.proj +
			"/branches").Want(200).Value("branches")); got != "[images]" {
			t.Errorf("branches %s", got)
		}
		high := func() string {
			return fmt.Sprint(w.as("read_only").Get(w.proj +
				"/results/overview").Want(200).Value("totalBySeverity.1.count"))
		}
		if got := high(); got != "1" {
			t.Errorf("overview counts %s", got)
		}
		// The first scan of source gives the project its branch.
		w.scan("develop", (&scanned{}).code(finding.SAST, finding.High, "x", "a.go", 1).code(finding.SAST, finding.High,
			"y", "b.go", 1))
		w.scanImage("main", "web:1", (&scanned{}).flaw(finding.High, "container/image/root-user", "image-config", nil))
		if got := high(); got != "2" {
			t.Errorf("overview of the source counts %s", got)
		}
	})
}

func TestSearchImages(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		const path = "/dockerhub/search/images"
		var got map[string]any
		w.as("stranger").Get(path + "?query=nginx").Want(200).Into(&got)
		want := map[string]any{"count": 1.0, "results": []any{map[string]any{
			"repo_name": "library/nginx", "repo_owner": "", "short_description": "", "star_count": 7.0,
			"pull_count": 0.0, "is_official": true, "is_automated": false}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("found (-want +got):\n%s", d)
		}
		w.as("stranger").Get(path + "?query=away").Want(503)
		w.as("stranger").Get(path + "?query=" + strings.Repeat("x", 101)).Want(400)
		w.As("").Get(path + "?query=nginx").Want(401)
	})
}
