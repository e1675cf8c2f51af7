package findings_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
	"merlon/internal/finding"
)

// licensed reports packages with licences.
func licensed(packages ...*finding.Package) *apitest.ScanResult {
	return &apitest.ScanResult{Packages: packages}
}

func npmPackage(name, version string, licenses ...string) *finding.Package {
	return &finding.Package{Ecosystem: "npm", Name: name, Version: version, Path: "package-lock.json",
		Licenses: licenses}
}

// someLicenses are packages of all categories.
func someLicenses() *apitest.ScanResult {
	return licensed(
		npmPackage("a", "1.0.0", "MIT"), npmPackage("b", "1.0.0", "MIT OR GPL-3.0-only"),
		npmPackage("c", "1.0.0", "LGPL-2.1+"),
		npmPackage("d", "1.0.0", "MIT", "GPL-3.0-only"), npmPackage("e", "1.0.0", "LicenseRef-House"),
		npmPackage("f", "1.0.0"),
		&finding.Package{Ecosystem: "PyPI", Name: "g", Version: "2", Path: "poetry.lock",
			Licenses: []string{"BSD-3-Clause"}, Dev: true, Scope: finding.Transitive},
	)
}

// numbers are those of a summary: all, with and without licences, the four
// categories and the ignored ones.
func numbers(a *apitest.Response) []any {
	out := []any{}
	for _, name := range []string{"totalPackages", "packagesWithLicenses", "packagesWithoutLicenses", "permissiveCount",
		"weakCopyleftCount",
		"strongCopyleftCount", "unknownCount", "ignoredCount"} {
		out = append(out, a.Value("data."+name))
	}
	return out
}

// of returns the number of packages of a licence in a summary, or nil.
func of(a *apitest.Response, id string) any {
	for _, l := range a.Value("data.licenses").([]any) {
		if row := l.(map[string]any); row["spdxId"] == id {
			return row["count"]
		}
	}
	return nil
}

// names returns the packages of an answer.
func names(a *apitest.Response) []string {
	out := []string{}
	for _, p := range a.Value("data.packages").([]any) {
		out = append(out, p.(map[string]any)["packageName"].(string))
	}
	return out
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestLicenseSummary(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		caller, summary := w.AsPerson("read_only"), w.Project+"/results/sca/licenses/summary"
		same(t, "nothing scanned", numbers(caller.Get(summary).Want(200)), []any{0., 0., 0., 0., 0., 0., 0., 0.})
		w.Scan("main", someLicenses())
		w.Scan("other", licensed(npmPackage("z", "1", "ISC")))
		a := caller.Get(summary).Want(200)
		same(t, "numbers", numbers(a), []any{7., 6., 1., 3., 1., 1., 2., 0.})
		for id, want := range map[string]any{"MIT": 3., "GPL-3.0-only": 2., "LGPL-2.1-or-later": 1.,
			"LicenseRef-House": 1., "UNKNOWN": 1., "ISC": nil} {
			same(t, id, of(a, id), want)
		}
		if a.Text("data.licenses.0.spdxId") != "MIT" || a.Text("data.licenses.0.name") != "MIT License" ||
			a.Text("data.licenses.0.risk") != "NONE" ||
			a.Text("data.licenses.0.riskDescription") == "" || a.Value("success") != true {
			t.Errorf("got %s", a.Body)
		}
		for query, want := range map[string][]any{
			"?branch=other":                 {1., 1., 0., 1., 0., 0., 0., 0.},
			"?packageType=PYPI":             {1., 1., 0., 1., 0., 0., 0., 0.},
			"?packageType[]=transitive":     {1., 1., 0., 1., 0., 0., 0., 0.},
			"?ecosystem=npm&ecosystem=pypi": {7., 6., 1., 3., 1., 1., 2., 0.},
			"?branch=nowhere":               {0., 0., 0., 0., 0., 0., 0., 0.},
		} {
			same(t, query, numbers(caller.Get(summary+query).Want(200)), want)
		}
		caller.Get(summary + "?organizationId=" + w.Organization[len("/organization/"):]).Want(200)
		caller.Get(summary + "?organizationId=00000000-0000-4000-8000-000000000000").Want(404)
		caller.Get(summary + "?organizationId=nonsense").Want(400)
		w.AsPerson("stranger").Get(summary).Want(404)
	})
}

func TestPackagesOfALicense(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", someLicenses())
		caller, licenses := w.AsPerson("read_only"), w.Project+"/results/sca/licenses/"
		for id, want := range map[string][]string{
			"MIT": {"a", "b", "d"}, "mit": {"a", "b", "d"}, "GPL-3.0": {"b", "d"}, "UNKNOWN": {"f"},
			"LicenseRef-House": {"e"}, "ISC": {},
			"BSD-3-Clause": {"g"}, "not a licence": {},
		} {
			a := caller.Get(licenses + url.PathEscape(id) + "/packages").Want(200)
			same(t, id, names(a), want)
			same(t, id, a.Value("data.totalCount"), float64(len(want)))
		}
		a := caller.Get(licenses + "BSD-3-Clause/packages").Want(200)
		if a.Value("data.packages.0.isDev") != true || a.Value("data.packages.0.isTransitive") != true ||
			a.Text("data.packages.0.ecosystem") != "PyPI" ||
			a.Text("data.packages.0.licenses.0") != "BSD-3-Clause" || a.Text("data.category") != "PERMISSIVE" ||
			a.Value("data.packages.0.isLicenseIgnored") != false {
			t.Errorf("got %s", a.Body)
		}
		a = caller.Get(licenses + "MIT/packages?limit=2&page=2").Want(200)
		same(t, "second page", names(a), []string{"d"})
		same(t, "all", a.Value("data.totalCount"), 3.)
	})
}

// What somebody decides about a package holds for later scans and other branches,
// and no longer than the package declares the same.
func TestLicenseByHand(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", someLicenses())
		caller, licenses := w.AsPerson("analyst_developer"), w.Project+"/results/sca/licenses/"
		id := caller.Get(licenses + "UNKNOWN/packages").Want(200).Text("data.packages.0.id")
		set := func(status int, id, spdx string) {
			t.Helper()
			caller.Put(w.Project+"/sca/packages/"+id+"/license", map[string]any{"spdxId": spdx}).Want(status)
		}
		set(200, id, "apache-2.0")
		same(t, "no package is unknown", names(caller.Get(licenses+"UNKNOWN/packages").Want(200)), []string{})
		a := caller.Get(licenses + "Apache-2.0/packages").Want(200)
		same(t, "it has a licence", names(a), []string{"f"})
		same(t, "by hand", a.Value("data.packages.0.isLicenseAssigned"), true)
		same(t, "in the list",
			caller.Get(w.Project+
				"/results/sca/packages?branch=main&searchQuery=f").Want(200).Value("packages.0.licenses"),
			[]any{"Apache-2.0"})

		w.Scan("main", licensed(npmPackage("f", "1.0.1"), npmPackage("a", "1.0.0", "MIT")))
		w.Scan("topic", licensed(npmPackage("f", "2.0.0")))
		same(t, "the next version", names(caller.Get(licenses+"Apache-2.0/packages").Want(200)), []string{"f"})
		same(t, "another branch", names(caller.Get(licenses+"Apache-2.0/packages?branch=topic").Want(200)),
			[]string{"f"})
		w.Scan("main", licensed(npmPackage("f", "2.0.0", "GPL-3.0-only")))
		same(t, "it declares another one", names(caller.Get(licenses+"GPL-3.0-only/packages").Want(200)), []string{"f"})

		id = caller.Get(licenses + "GPL-3.0-only/packages").Want(200).Text("data.packages.0.id")
		for _, wrong := range []string{"Nonsense", "MIT OR", "LicenseRef-House", "MIT ISC"} {
			set(400, id, wrong)
		}
		set(200, id, "MIT OR ISC")
		same(t, "a choice", names(caller.Get(licenses+"ISC/packages").Want(200)), []string{"f"})
		set(200, id, "")
		same(t, "taken back", names(caller.Get(licenses+"GPL-3.0-only/packages").Want(200)), []string{"f"})
		set(404, "00000000-0000-4000-8000-000000000000", "MIT")
		set(400, "nonsense", "MIT")
		w.AsPerson("read_only").Put(w.Project+"/sca/packages/"+id+"/license", map[string]any{"spdxId": "MIT"}).Want(403)
		if log := w.AsPerson("administrator").Get(w.Organization +
			"/audit-log?action=package.license").Want(200); len(log.Value("records").([]any)) != 3 {
			t.Errorf("got the records %s", log.Body)
		}
	})
}

func TestIgnoredLicense(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", someLicenses())
		caller, licenses := w.AsPerson("analyst_developer"), w.Project+"/results/sca/licenses/"
		id := caller.Get(licenses + "MIT/packages").Want(200).Text("data.packages.0.id")
		ignore := func(ignored bool) {
			t.Helper()
			caller.Put(w.Project+"/sca/packages/"+id+"/license-ignore", map[string]any{"ignored": ignored}).Want(200)
		}
		ignore(true)
		w.Scan("main", someLicenses())
		a := caller.Get(licenses + "summary").Want(200)
		same(t, "ignored", numbers(a), []any{7., 6., 1., 2., 1., 1., 2., 1.})
		same(t, "count", of(a, "MIT"), 2.)
		a = caller.Get(licenses + "MIT/packages").Want(200)
		same(t, "visible", names(a), []string{"a", "b", "d"})
		same(t, "marked", a.Value("data.packages.0.isLicenseIgnored"), true)
		caller.Put(w.Project+"/sca/packages/"+id+"/license", map[string]any{"spdxId": "ISC"}).Want(200)
		same(t, "still ignored", of(caller.Get(licenses+"summary").Want(200), "ISC"), nil)
		ignore(false)
		same(t, "counted again", of(caller.Get(licenses+"summary").Want(200), "ISC"), 1.)
		w.AsPerson("read_only").Put(w.Project+"/sca/packages/"+id+"/license-ignore",
			map[string]any{"ignored": true}).Want(403)
		caller.Put(w.Project+"/sca/packages/"+id+"/license-ignore", map[string]any{}).Want(400)
	})
}

func TestLicenseClasses(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		w.Scan("main", someLicenses())
		admin, address := w.AsPerson("administrator"), w.Organization+"/licenses/classifications"
		class := func(id string) map[string]any {
			t.Helper()
			for _, l := range w.AsPerson("member").Get(address).Want(200).Value("data.licenses").([]any) {
				if row := l.(map[string]any); row["spdxId"] == id {
					return row
				}
			}
			return nil
		}
		put := func(status int, id, category string) {
			t.Helper()
			admin.Put(address,
				map[string]any{"overrides": []any{map[string]any{"spdxId": id, "category": category}}}).Want(status)
		}
		if n := len(admin.Get(address).Want(200).Value("data.licenses").([]any)); n <= 100 {
			t.Errorf("got %d licences, want more than 100", n)
		}
		same(t, "as built in", class("MIT"), map[string]any{"spdxId": "MIT", "name": "MIT License",
			"defaultCategory": "PERMISSIVE",
			"currentCategory": "PERMISSIVE", "isOverridden": false})
		put(200, "mit", "STRONG_COPYLEFT")
		put(200, "LicenseRef-House", "PERMISSIVE")
		put(200, "licenseref-house", "WEAK_COPYLEFT")
		same(t, "overridden", class("MIT")["currentCategory"], "STRONG_COPYLEFT")
		same(t, "custom", class("LicenseRef-House"),
			map[string]any{"spdxId": "LicenseRef-House", "name": "LicenseRef-House",
				"defaultCategory": "UNKNOWN", "currentCategory": "WEAK_COPYLEFT", "isOverridden": true})
		caller, licenses := w.AsPerson("analyst_developer"), w.Project+"/results/sca/licenses/"
		same(t, "at once", numbers(caller.Get(licenses+"summary").Want(200)), []any{7., 6., 1., 1., 2., 3., 1., 0.})
		id := caller.Get(licenses + "UNKNOWN/packages").Want(200).Text("data.packages.0.id")
		caller.Put(w.Project+"/sca/packages/"+id+"/license", map[string]any{"spdxId": "LicenseRef-House"}).Want(200)

		put(400, "MIT OR ISC", "PERMISSIVE")
		put(400, "UNKNOWN", "PERMISSIVE")
		put(400, "a licence", "PERMISSIVE")
		put(400, "MIT", "FINE")
		admin.Put(address, map[string]any{"overrides": []any{}}).Want(400)
		w.AsPerson("member").Put(address,
			map[string]any{"overrides": []any{map[string]any{"spdxId": "MIT", "category": "UNKNOWN"}}}).Want(403)
		w.AsPerson("member").Delete(address, nil).Want(403)
		w.AsPerson("stranger").Get(address).Want(404)
		admin.Delete(address, nil).Want(200)
		same(t, "reset", class("MIT")["isOverridden"], false)
		same(t, "reset", class("LicenseRef-House"), map[string]any(nil))
		same(t, "reset at once", numbers(caller.Get(licenses+"summary").Want(200)),
			[]any{7., 7., 0., 3., 1., 1., 2., 0.})
		for action, want := range map[string]int{"license.classify": 3, "license.reset": 1} {
			if log := admin.Get(w.Organization + "/audit-log?action=" +
				action).Want(200); len(log.Value("records").([]any)) != want {
				t.Errorf("%s: got the records %s", action, log.Body)
			}
		}
	})
}
