package merlon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file holds the shape of the program: which tree may import which. Changing
// the shape means changing the table in the same commit.

const module = "merlon/"

// anywhere may be imported by every tree: it knows nothing of the program.
const anywhere = "internal/lazyregexp"

// vocabulary is what most trees may speak of.
const vocabulary = "internal/errs internal/tenant internal/project internal/finding internal/advisory internal/run"

// sast returns the paths of packages of static analysis. There, what a package may import
// stands below it: the analyzer on top, taint above the intermediate form, languages and
// trees at the bottom.
func sast(names string) string {
	list := strings.Fields(names)
	for i, name := range list {
		list[i] = "internal/engine/sast/" + name
	}
	return strings.Join(list, " ")
}

// iac begins the folders of infrastructure code, formats are its readers.
const (
	iac     = "internal/engine/iac/"
	formats = iac + "ansible " + iac + "bicep " + iac + "buildah " + iac + "compose " + iac + "dockerfile " + iac +
		"document " + iac + "helm " + iac + "kustomize " + iac + "proto " + iac + "sam " + iac + "serverless " + iac +
		"template " + iac + "terraform "
)

// dast begins the folders of dynamic analysis.
const dast = "internal/engine/dast/"

// discovery is what finds operations, rules what scans them, apiModel what both know of a
// described API.
const (
	discovery = dast + "formvalue " + dast + "message " + dast + "sideeffect " + dast + "sitemap " + dast + "traffic "
	rules     = dast + "activescan " + dast + "message " + dast + "sitemap " + dast + "traffic "
	apiModel  = "internal/engine/api/apispec internal/engine/api/requestgen "
)

// mayImport gives, for each tree of the module, the trees it may import. The
// longest key that covers a folder counts.
var mayImport = map[string]string{
	".":            "",
	"cmd/merlon":   "internal/cli",
	"test/bench":   "client internal/store/storetest",
	"test/faults":  "",
	"test/process": "",
	"test/house":   "",
	"test/table":   "test/process",
	"test/sast":    "test/process test/table",
	"test/supply":  "test/process test/table",
	"test/dast":    "test/process test/table",
	"client":       "",
	"examples":     "",

	"internal/lazyregexp":      "",
	"internal/document":        "",
	"internal/errs":            "",
	"internal/tenant":          "internal/errs",
	"internal/finding":         "internal/errs",
	"internal/redact":          "internal/errs internal/finding",
	"internal/severity":        "internal/finding",
	"internal/scan":            "internal/errs internal/finding internal/image internal/redact internal/severity",
	"internal/advisory":        "internal/errs internal/finding internal/scan",
	"internal/advisory/mirror": "internal/errs internal/advisory internal/outbound",
	"internal/project":         "internal/errs internal/tenant internal/finding",
	"internal/run":             "internal/errs internal/tenant internal/project internal/finding internal/scan",

	"internal/oast":       "internal/errs internal/scan",
	"internal/connbroker": "internal/errs internal/scan internal/oast",
	"internal/livetarget/ownership": "internal/errs internal/tenant internal/scan internal/outbound " +
		"internal/livetarget",
	"internal/livetarget": "internal/errs internal/tenant internal/finding internal/scan internal/seal",

	"internal/archive":             "internal/errs",
	"internal/image":               "internal/errs",
	"internal/registry":            "internal/errs",
	"internal/registry/aws":        "internal/errs",
	"internal/registry/credential": "internal/errs internal/tenant internal/registry/aws",
	"internal/registry/catalog": "internal/errs internal/outbound internal/registry/aws " +
		"internal/registry/credential",
	"internal/sandbox":  "internal/errs",
	"internal/blob":     "internal/errs",
	"internal/mail":     "internal/errs internal/seal",
	"internal/seal":     "",
	"internal/license":  "internal/errs",
	"internal/notice":   "",
	"internal/upgrade":  "internal/errs internal/finding",
	"internal/codefix":  "internal/errs internal/finding internal/scan",
	"internal/outbound": "internal/errs",
	"internal/verify":   "internal/finding internal/outbound",

	"internal/notice/generate":      "internal/license internal/engine/sca",
	"internal/registry/aws/awstest": "internal/registry/aws",

	"internal/scan/scantest": "internal/scan internal/finding",
	"internal/engine/sast": "internal/errs internal/finding internal/scan " +
		sast("cache callgraph cst entropy frameworks generic ir lang lang/all model pattern pcre route rule "+
			"scope taint taint/findings taint/rulematch tree"),
	"internal/engine/sast/analyzer": "internal/errs internal/finding internal/scan internal/engine/sast " +
		sast("callgraph cache cst lang lang/all route rule rules"),
	"internal/engine/sast/ruletest": "internal/engine/sast " + sast("lang/all rule"),
	"internal/engine/sast/rules":    "internal/errs internal/finding " + sast("frameworks model rule"),

	"internal/engine/sast/taint": sast("taint/findings taint/frame taint/modelindex taint/rulematch taint/scheduler " +
		"taint/survey " +
		"taint/taintset ir model"),
	"internal/engine/sast/taint/findings": sast("taint/frame taint/modelindex taint/rulematch taint/summary " +
		"taint/survey taint/syncmap " +
		"taint/taintset taint/value ir lang model pattern tree"),
	"internal/engine/sast/taint/tainttest": sast("callgraph cst frameworks ir lang/all model rule scope taint " +
		"taint/findings taint/rulematch"),
	"internal/engine/sast/taint/scheduler": sast("taint/frame taint/interpret taint/summary taint/syncmap ir"),
	"internal/engine/sast/taint/interpret": sast("taint/callsite taint/frame taint/guard taint/libcall " +
		"taint/modelindex taint/rulematch " +
		"taint/summary taint/taintset taint/value ir model rule"),
	"internal/engine/sast/taint/libcall": sast("taint/callsite taint/frame taint/guard taint/modelindex " +
		"taint/taintset taint/value ir " +
		"model pcre"),
	"internal/engine/sast/taint/guard": sast("taint/callsite taint/frame taint/modelindex taint/summary taint/survey " +
		"taint/taintset " +
		"taint/value ir model"),
	"internal/engine/sast/taint/callsite": sast("taint/frame taint/modelindex taint/survey taint/taintset " +
		"taint/value ir model"),
	"internal/engine/sast/taint/frame": sast("taint/modelindex taint/summary taint/survey taint/syncmap " +
		"taint/taintset taint/value ir " +
		"model tree"),
	"internal/engine/sast/taint/survey": sast("taint/modelindex taint/rulematch taint/taintset taint/value " +
		"ir model"),
	"internal/engine/sast/taint/rulematch":  sast("taint/summary taint/taintset ir lang model pattern rule tree"),
	"internal/engine/sast/taint/modelindex": sast("taint/syncmap taint/taintset taint/value ir lang model pcre tree"),
	"internal/engine/sast/taint/summary":    sast("taint/taintset taint/value ir pattern"),
	"internal/engine/sast/taint/value":      sast("taint/taintset ir pcre"),
	"internal/engine/sast/taint/taintset":   sast("taint/syncmap ir model pattern"),
	"internal/engine/sast/taint/syncmap":    "",

	"internal/engine/sast/callgraph":  sast("ir tree"),
	"internal/engine/sast/ir":         sast("lang scope tree"),
	"internal/engine/sast/pattern":    sast("cst lang pcre rule scope tree"),
	"internal/engine/sast/generic":    sast("rule"),
	"internal/engine/sast/route":      sast("scope tree"),
	"internal/engine/sast/scope":      sast("lang tree"),
	"internal/engine/sast/lang/all":   sast("cst lang"),
	"internal/engine/sast/lang":       sast("cst tree"),
	"internal/engine/sast/cache":      sast("tree"),
	"internal/engine/sast/frameworks": sast("model"),
	"internal/engine/sast/rule":       "internal/errs internal/finding internal/scan internal/document " + sast("pcre"),
	"internal/engine/sast/model":      "",
	"internal/engine/sast/tree":       "",
	"internal/engine/sast/pcre":       "",
	"internal/engine/sast/entropy":    "",
	"internal/engine/sast/cst":        "",

	"internal/engine/secrets": "internal/errs internal/finding internal/scan internal/scan/scantest internal/severity",
	"internal/engine/sca": "internal/document internal/errs internal/finding internal/scan internal/scan/scantest " +
		"internal/sbom internal/severity internal/upgrade internal/engine/sast " + sast("callgraph cst ir lang lang/all scope tree"),

	// Infrastructure code, from documents up to the analyzer: readers of formats make documents,
	// rules know documents and evaluated resources, and no reader knows a rule.
	iac + "document":   "internal/document internal/errs",
	iac + "ansible":    "internal/errs " + iac + "document",
	iac + "bicep":      "internal/errs " + iac + "document",
	iac + "buildah":    "internal/errs " + iac + "document",
	iac + "compose":    iac + "document",
	iac + "dockerfile": "internal/errs " + iac + "document",
	iac + "helm":       iac + "document",
	iac + "kustomize":  iac + "document " + iac + "helm",
	iac + "proto":      "internal/errs " + iac + "document",
	iac + "sam":        iac + "document",
	iac + "serverless": iac + "document",
	iac + "template":   iac + "bicep " + iac + "document " + iac + "sam",
	iac + "terraform":  "internal/finding internal/scan " + iac + "document",
	iac + "normalize":  "internal/finding " + iac + "document " + iac + "sam " + iac + "terraform",
	iac + "kics": "internal/finding internal/scan " + iac + "document " + iac + "kics/module " +
		iac + "remedy " + iac + "rules/calibration",
	iac + "kics/generate":     iac + "kics/module",
	iac + "kics/module":       "",
	iac + "remedy":            "internal/finding " + iac + "document",
	iac + "rules/calibration": "internal/finding",
	iac + "rules/cloud":       "internal/finding internal/scan " + iac + "rules/calibration " + iac + "terraform",
	iac + "rules/workload":    "internal/finding " + iac + "document " + iac + "kics " + iac + "rules/calibration",
	iac + "analyzer": "internal/errs internal/finding internal/scan internal/severity " +
		formats + iac + "kics " + iac +
		"normalize " + iac + "remedy " + iac + "rules/cloud " + iac + "rules/workload",

	"internal/engine/cicd": "internal/document internal/errs internal/finding internal/scan internal/severity " +
		"internal/scan/scantest",
	"internal/chromium": "internal/scan internal/sandbox",
	// Dynamic analysis, from messages up to the analyzers. Rules are below activescan.Engine: see
	// TestRulesDoNotReachTheEngine.
	dast + "message":             "internal/finding",
	dast + "formvalue":           "",
	dast + "sitemap":             "internal/errs internal/finding internal/scan " + dast + "message",
	dast + "traffic":             "internal/errs internal/scan " + dast + "message " + dast + "sitemap",
	dast + "traffic/traffictest": "",
	dast + "sideeffect": "internal/errs internal/finding internal/scan " + dast + "message " + dast +
		"sitemap",
	dast + "crawl": "internal/errs internal/finding internal/scan " + discovery + dast +
		"crawl/script",
	dast + "crawl/script": "",
	dast + "browser": "internal/chromium internal/scan " + dast + "formvalue " + dast + "message " +
		dast + "sitemap",
	dast + "session": "internal/errs internal/redact internal/scan " + discovery + dast + "crawl " +
		dast + "browser",
	dast + "activescan": "internal/errs internal/finding internal/scan " + discovery + dast + "crawl",
	dast + "activescan/activescantest": "internal/oast internal/finding internal/scan " + rules + dast +
		"traffic/traffictest",
	dast + "check": "internal/errs internal/finding internal/scan " + rules + dast + "browser " +
		dast + "crawl",
	dast + "template": "internal/document internal/errs internal/finding internal/scan " + rules,
	dast + "livescan": "internal/errs internal/finding internal/scan " + discovery + rules + dast + "browser " +
		dast + "crawl " + dast + "session " + dast + "template",
	dast + "application": "internal/finding internal/scan " + rules + dast + "browser " + dast + "check " +
		dast + "crawl " + dast + "livescan " + dast + "session",

	"internal/engine/api/apispec": "internal/errs internal/document",
	"internal/engine/api/requestgen": "internal/errs internal/engine/api/apispec " + dast + "formvalue " +
		dast + "message " + dast + "sideeffect",
	"internal/engine/api/conformance": "internal/engine/api/apispec internal/engine/api/requestgen " + dast + "message",
	"internal/engine/api/lint": "internal/finding internal/scan internal/engine/api/apispec internal/document " +
		"internal/severity",
	"internal/engine/api/graphql": "internal/finding internal/scan " + apiModel + rules,
	"internal/engine/api/authz": "internal/errs internal/finding internal/scan " + apiModel + rules + dast + "check " +
		dast + "session",
	"internal/engine/api/operations": "internal/errs internal/finding internal/scan " + apiModel + rules +
		"internal/engine/api/authz internal/engine/api/conformance internal/engine/api/graphql " + dast + "check " +
		dast + "livescan " + dast + "session " + dast + "sideeffect",
	"internal/engine/all": "internal/scan internal/engine/sast/analyzer internal/engine/secrets internal/engine/sca " +
		iac + "analyzer internal/engine/cicd internal/engine/container " + dast + "application " +
		"internal/engine/api/lint internal/engine/api/operations",
	"internal/sbom":   "internal/finding internal/license",
	"internal/vex":    "internal/errs internal/finding internal/scan",
	"internal/report": "internal/errs internal/finding internal/scan internal/sbom internal/severity internal/upgrade",

	"internal/engine/container": "internal/errs internal/finding internal/scan internal/image internal/severity " +
		"internal/engine/secrets internal/engine/sca",

	"internal/audit":       "internal/errs internal/tenant",
	"internal/job":         "internal/errs internal/run",
	"internal/identity":    "internal/errs internal/tenant internal/audit internal/mail",
	"internal/remediation": "internal/tenant internal/finding internal/triage internal/upgrade",
	"internal/triage":      vocabulary + " internal/scan internal/severity internal/audit",

	"internal/store": vocabulary + " internal/scan internal/triage internal/job internal/identity " +
		"internal/audit internal/mail internal/oidc/grant internal/registry/credential internal/license " +
		"internal/remediation internal/livetarget internal/livetarget/ownership internal/redact",
	"internal/store/sqlite":    "internal/store",
	"internal/store/postgres":  "internal/errs internal/store",
	"internal/store/storetest": "internal/store internal/store/sqlite internal/store/postgres",

	// The API, from what operations share up to the table of routes: a resource imports another
	// one only where its operations show parts of it, and none knows the table.
	"internal/api/endpoint":     "internal/errs internal/tenant internal/run internal/identity internal/seal",
	"internal/api/scancoverage": vocabulary + " internal/api/endpoint internal/scan internal/triage",
	"internal/api/accounts": "internal/errs internal/tenant internal/api/endpoint internal/identity " +
		"internal/audit",
	"internal/api/organizations": "internal/errs internal/tenant internal/api/endpoint " +
		"internal/api/scancoverage internal/identity internal/audit internal/mail internal/triage",
	"internal/api/projects": vocabulary + " internal/api/endpoint internal/api/scancoverage internal/triage",
	"internal/api/findings": vocabulary + " internal/api/endpoint internal/api/scancoverage internal/scan " +
		"internal/triage internal/report internal/sbom internal/license internal/upgrade internal/remediation " +
		"internal/vex",
	"internal/api/targets": "internal/tenant internal/scan internal/api/endpoint internal/livetarget " +
		"internal/livetarget/ownership",
	"internal/api/scans": vocabulary + " internal/api/endpoint internal/api/targets internal/scan",
	"internal/api/registries": vocabulary + " internal/api/endpoint internal/audit " +
		"internal/registry/aws internal/registry/catalog internal/registry/credential",
	"internal/api": "internal/tenant internal/finding internal/identity internal/mail internal/seal " +
		"internal/livetarget internal/registry/credential internal/api/endpoint internal/api/accounts " +
		"internal/api/organizations internal/api/projects internal/api/findings internal/api/registries " +
		"internal/api/scans internal/api/scancoverage internal/api/targets",
	"internal/api/apitest": vocabulary + " internal/scan internal/triage internal/remediation internal/api " +
		"internal/blob internal/store " +
		"internal/store/storetest internal/identity internal/mail internal/seal internal/registry/catalog " +
		"internal/registry/credential internal/outbound internal/livetarget/ownership",
	"internal/oidc": "internal/errs internal/tenant internal/identity internal/audit internal/seal " +
		"internal/oidc/grant",
	"internal/oidc/grant": "internal/tenant",
	"internal/worker": vocabulary + " internal/redact internal/connbroker internal/oast internal/chromium " +
		"internal/scan internal/triage internal/job internal/archive internal/sandbox internal/blob",

	"internal/config": "internal/errs",
	"internal/server": vocabulary + " internal/redact internal/remediation internal/scan internal/triage " +
		"internal/job " +
		"internal/identity internal/audit internal/report" +
		" internal/store internal/store/sqlite internal/store/postgres internal/api internal/oidc " +
		"internal/oidc/grant internal/worker internal/oast internal/chromium" +
		" internal/config internal/blob internal/mail internal/engine/all internal/archive internal/sandbox " +
		"internal/seal internal/outbound internal/advisory/mirror internal/registry internal/registry/aws " +
		"internal/registry/catalog internal/registry/credential internal/livetarget internal/livetarget/ownership",
	"internal/cli": "internal/connbroker internal/notice internal/oast internal/chromium examples internal/vex internal/errs " +
		"internal/config internal/server client internal/scan internal/engine/all internal/engine/sast " +
		sast("rule rules ruletest") + " internal/engine/sca internal/report" +
		" internal/advisory internal/finding internal/sandbox internal/archive internal/sbom internal/image " +
		"internal/outbound internal/registry internal/registry/credential internal/verify internal/upgrade internal/codefix" +
		" internal/store internal/store/sqlite internal/store/postgres",
}

func TestLayers(t *testing.T) {
	for key := range mayImport {
		if _, err := os.Stat(key); err != nil {
			t.Errorf("mayImport has %s: %v", key, err)
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") &&
			path != ".") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := tree(filepath.ToSlash(filepath.Dir(path)))
		if from == "" {
			t.Errorf("%s is in no layer: add its tree to mayImport", path)
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			rel, ours := strings.CutPrefix(imp, module)
			if to := tree(rel); ours && to != from && to != anywhere &&
				!slices.Contains(strings.Fields(mayImport[from]), to) {
				t.Errorf("%s imports %s: %s may import only [%s]", path, rel, from, mayImport[from])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tree returns the longest key of mayImport that covers the folder.
func tree(dir string) string {
	best := ""
	for key := range mayImport {
		if (dir == key || strings.HasPrefix(dir, key+"/")) && len(key) > len(best) {
			best = key
		}
	}
	return best
}

// A rule of dynamic analysis gets an activescan.OperationScan. Whoever names the engine could make one with
// other budgets, or report what no rule declares.
func TestRulesDoNotReachTheEngine(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !strings.HasPrefix(s.path, dast+"check/") && !strings.HasPrefix(s.path, dast+"template/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Engine" {
				t.Errorf("%s: a rule uses the engine", s.fset.Position(sel.Pos()))
			}
			return true
		})
	}
}
