package findings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// scanSomeImages scans two tags of one repository, another repository, and an image on
// another branch.
func scanSomeImages(w *apitest.World) {
	w.T.Helper()
	web := func() *apitest.ScanResult {
		return (&apitest.ScanResult{}).InImage(finding.Critical, "CVE-2026-1", "openssl", "3.0.1").Library("left-pad").
			ImageFinding(finding.High, "secrets/credentials/aws-access-token", "app/.env",
				&finding.SecretMatch{Kind: "AWS access key", Redacted: "AKIA…"}).
			ImageFinding(finding.Medium, "container/image/root-user", "image-config", nil)
	}
	w.ScanImage("main", "web:1", web().InImage(finding.Low, "CVE-2026-2", "zlib", "1.2"))
	w.ScanImage("main", "web:2", web())
	w.ScanImage("main", "db:1", &apitest.ScanResult{})
	w.ScanImage("topic", "web:1", web())
}

func TestImageLists(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		empty := w.AsPerson("read_only").Get(w.Project + "/results/container/images/grouped").Want(200)
		if got := empty.Value("groupedImages"); fmt.Sprint(got) != "[]" || empty.Value("totalPages") != 0.0 {
			t.Errorf("without images: %s", empty.Body)
		}
		scanSomeImages(w)
		get := func(query string) (names []string, total any) {
			t.Helper()
			answer := w.AsPerson("read_only").Get(w.Project + "/results/container/images" + query).Want(200)
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
			w.AsPerson("read_only").Get(w.Project + "/results/container/images" + query).Want(400)
		}
		// What the settings of the project hide is not counted.
		w.AsPerson("administrator").Patch(w.Project,
			map[string]any{"containerSeverities": []string{"critical"}}).Want(200)
		if got, _ := get("?searchQuery=web:2"); !slices.Equal(got, []string{"docker.io/acme/web:2 main {1 0 0 0 0}"}) {
			t.Errorf("with critical ones alone: %q", got)
		}
	})
}

// TestImageShapes compares whole answers with those of the contract.
func TestImageShapes(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.ScanImage("main", "web:1", (&apitest.ScanResult{}).InImage(finding.High, "CVE-2026-1", "openssl", "3.0.1"))
		at := "2026-11-20T09:01:00Z"
		list := w.AsPerson("read_only").Get(w.Project + "/results/container/images").Want(200)
		counts := map[string]any{"critical": 0.0, "high": 1.0, "medium": 0.0, "low": 0.0, "unknown": 0.0}
		project := strings.TrimPrefix(w.Project, "/project/")
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
		w.AsPerson("read_only").Get(w.Project + "/results/container/images/grouped?limit=50").Want(200).Into(&got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("groups (-want +got):\n%s", d)
		}
		w.ScanImage("main", "web:1", &apitest.ScanResult{})
		if got := w.AsPerson("read_only").Get(w.Project +
			"/results/container/images").Want(200).Text("images.0.osFamily"); got != "none" {
			t.Errorf("an image without an os-release is of %q", got)
		}
	})
}

func TestFindingsOfImages(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", (&apitest.ScanResult{}).Code(finding.SAST, finding.High, "x", "a.go", 1))
		scanSomeImages(w)
		images := w.AsPerson("read_only").Get(w.Project +
			"/results/container/images?branch=main&sort=repositoryName").Want(200)
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
			l := listFindings(w, "container"+query)
			if l.Total != want || len(l.Vulnerabilities) != want {
				t.Errorf("%s: %d findings, total %d, want %d", query, len(l.Vulnerabilities), l.Total, want)
			}
		}
		for query, want := range map[string]float64{
			"?branch=main": 3, "?imageId=" + one: 3, "?imageId=" + two: 2, "?imageId=" + one + "&classType=os-pkgs": 2,
			"?imageId=" + one + "&classType=lang-pkgs": 1, "?imageId=" + one + "&classType=secret,config": 0,
			"?imageId=" + one + "&searchQuery=ssl": 1,
		} {
			answer := w.AsPerson("read_only").Get(w.Project + "/results/container/packages" + query).Want(200)
			if got := answer.Value("total"); got != want {
				t.Errorf("packages%s: %v, want %v", query, got, want)
			}
		}
		secret := listFindings(w, "container?imageId="+one+"&classType=secret").Vulnerabilities[0].ID
		detail := w.AsPerson("read_only").Get(w.Project + "/results/container/" + secret).Want(200)
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
			w.AsPerson("read_only").Get(w.Project + "/results/" + query).Want(400)
		}
		if got := listFindings(w, "sast?imageId="+one).Total; got != 0 {
			t.Errorf("findings in source of an image: %d", got)
		}
	})
}

func TestDeleteImage(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		scanSomeImages(w)
		images := w.AsPerson("read_only").Get(w.Project +
			"/results/container/images?branch=main&sort=repositoryName").Want(200)
		path := func(n int) string {
			return w.Project + "/results/container/images/" + images.Text(fmt.Sprintf("images.%d.id", n))
		}
		other := apitest.AddNeighbour(t, w)
		w.AsPerson("developer").Delete(path(1), nil).Want(403)
		w.AsPerson("stranger").Delete(path(1), nil).Want(404)
		w.As(other.Admin).Delete(path(1), nil).Want(404)
		w.As(other.Admin).Delete(strings.Replace(path(1), w.Project, other.Project, 1), nil).Want(404)
		w.AsPerson("administrator").Delete(w.Project+"/results/container/images/x", nil).Want(400)

		w.AsPerson("administrator").Delete(path(1), nil).Want(200)
		w.AsPerson("administrator").Delete(path(1), nil).Want(404)
		if l := listFindings(w, "container?branch=main&status=resolved"); l.Total != 1 ||
			len(l.Vulnerabilities[0].HistoryItems) != 2 {
			t.Errorf("resolved with the image: %+v", l)
		}
		overview := func() string {
			return fmt.Sprint(w.AsPerson("read_only").Get(w.Project +
				"/results/overview").Want(200).Value("totalBySeverity"))
		}
		if got := overview(); !strings.Contains(got, "[count:1 severity:critical]") ||
			!strings.Contains(got, "[count:0 severity:low]") {
			t.Errorf("overview without one tag: %s", got)
		}
		w.AsPerson("administrator").Delete(path(2), nil).Want(200)
		if l := listFindings(w, "container?branch=main"); l.Total != 0 || l.VulnCountByType["container"] != 0 {
			t.Errorf("after the last tag: %+v", l)
		}
		if got := overview(); !strings.Contains(got, "[count:0 severity:critical]") {
			t.Errorf("overview without any tag: %s", got)
		}
		if got := listFindings(w, "container?branch=topic").Total; got != 3 {
			t.Errorf("findings of the other branch: %d", got)
		}
		log := w.AsPerson("administrator").Get(w.Organization + "/audit-log?page=1&pageSize=20").Want(200)
		if n := strings.Count(string(log.Body), `"image.delete"`); n != 2 ||
			!strings.Contains(string(log.Body), "docker.io/acme/web:1") {
			t.Errorf("%d records of the audit log:\n%s", n, log.Body)
		}
	})
}

// TestImageOfEmptyProject scans an image before anything else.
func TestImageOfEmptyProject(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.ScanImage("images", "web:1", (&apitest.ScanResult{}).ImageFinding(finding.High, "container/image/root-user",
			"image-config",
			nil))
		var project struct {
			Language []string
		}
		w.AsPerson("read_only").Get(w.Project).Want(200).Into(&project)
		if len(project.Language) != 0 {
			t.Errorf("languages of a project without source: %v", project.Language)
		}
		if got := fmt.Sprint(w.AsPerson("read_only").Get(w.Project +
			"/branches").Want(200).Value("branches")); got != "[images]" {
			t.Errorf("branches %s", got)
		}
		high := func() string {
			return fmt.Sprint(w.AsPerson("read_only").Get(w.Project +
				"/results/overview").Want(200).Value("totalBySeverity.1.count"))
		}
		if got := high(); got != "1" {
			t.Errorf("overview counts %s", got)
		}
		// The first scan of source gives the project its branch.
		w.Scan("develop", (&apitest.ScanResult{}).Code(finding.SAST, finding.High, "x", "a.go", 1).Code(finding.SAST,
			finding.High,
			"y", "b.go", 1))
		w.ScanImage("main", "web:1", (&apitest.ScanResult{}).ImageFinding(finding.High, "container/image/root-user",
			"image-config", nil))
		if got := high(); got != "2" {
			t.Errorf("overview of the source counts %s", got)
		}
	})
}
