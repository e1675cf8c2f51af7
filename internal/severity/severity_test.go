package severity

import (
	"testing"

	"merlon/internal/finding"
)

func TestContextOf(t *testing.T) {
	for path, want := range map[string]Context{
		"src/main/java/A.java": Production, "src/test/java/A.java": Test, "internal/store/store_test.go": Test,
		"pkg/test_x.py": Test, "web/app.spec.ts": Test, "web/__tests__/a.js": Test, "MyShop.Tests/A.cs": Test,
		"shop-tests/a.rb": Test, "test-infra/Dockerfile": Test, "src/androidTest/A.kt": Test, "test_resources/key.pem": Test, "web/.snapshots/a.json": Test, "conftest.py": Test, "test-data/key.pem": Test,
		"spec/models/user_spec.rb": Test, "spec/support/a.rb": Test, "e2e/docker-compose.yml": Test,
		"contest/a.go": Production, "src/latest.go": Production, "Testing.java": Production, "test.go": Production,
		"my-test-runner/main.go": Production, "latest-tests.d/x": Production,
		// Folders that are called spec also hold API descriptions.
		"spec/openapi.yaml": Production, "api/openapi.spec.yaml": Production,

		"examples/a.go": Example, ".env.example": Example, "config/app-sample.yml": Example, "php.ini.dist": Example,
		"values.example.prod.yaml": Example, "example.tf": Production, "src/samples/main.tf": Example, "quickstart-postgres.yml": Example,
		"docs/a.tf": Documentation, "README.md": Documentation, "lib/doc/a.rb": Documentation,
		"docker/Dockerfile": Production, "documents/a.go": Production,

		"docker-compose.dev.yml": Development, "compose.override.yaml": Development, "Vagrantfile": Development,
		".devcontainer/Dockerfile": Development, "hack/run.sh": Development, "environments/dev/main.tf": Development,
		"settings.local.py": Development, "values-local.yaml": Development, "docker-compose.yml": Production,
		"dev.tf": Production, "device/a.go": Production, "override.tf": Production,

		"vendor/x/y.go": Vendored, "node_modules/a/b.js": Vendored, "third_party/a.c": Vendored,
		"api/v1/api.pb.go": Generated, "api_pb2.py": Generated, "zz_generated.deepcopy.go": Generated,
		"src/generated/client.ts": Generated,

		// The name of a pipeline says what it does, not where it runs.
		".github/workflows/e2e-test.yml": Production, ".gitlab-ci.test.yml": Production,
		"azure-pipelines-dev.yml": Production, "Jenkinsfile.test": Production,
		"tests/fixtures/.github/workflows/ci.yml": Test,

		"": Production, "/": Production, "..": Production,
	} {
		if got := ContextOf(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

func TestWeigh(t *testing.T) {
	raised := finding.SeverityTerm{Points: Raised, Reason: "Docker socket mounted"}
	development := finding.SeverityTerm{Points: Lowered, Reason: "development dependency"}
	for name, c := range map[string]struct {
		f       finding.Finding
		want    finding.Severity
		points  int
		explain string
	}{
		"no context": {finding.Finding{Severity: finding.High, Location: at("app/a.go")}, finding.High, 3, ""},
		"test": {finding.Finding{Severity: finding.Critical, Location: at("tests/a.go")}, finding.Medium, 2,
			"impact critical, -2 test or fixture"},
		"hidden": {finding.Finding{Severity: finding.Medium, Location: at("examples/main.tf")}, finding.Low, 0,
			"impact medium, -2 example"},
		"raised": {finding.Finding{Severity: finding.High, Location: at("compose.yml"),
			Terms: []finding.SeverityTerm{raised}}, finding.Critical, 4, "impact high, +1 Docker socket mounted"},
		"at most critical": {finding.Finding{Severity: finding.Critical, Location: at("compose.yml"),
			Terms: []finding.SeverityTerm{raised}}, finding.Critical, 5, "impact critical, +1 Docker socket mounted"},
		"both": {finding.Finding{Severity: finding.High, Location: at("compose.dev.yml"),
			Terms: []finding.SeverityTerm{raised}}, finding.High, 3,
			"impact high, +1 Docker socket mounted, -1 development set-up"},
		"own term": {finding.Finding{Severity: finding.Low, Location: at("package.json"),
			Terms: []finding.SeverityTerm{development}}, finding.Low, 0, "impact low, -1 development dependency"},
		"URL": {finding.Finding{Severity: finding.High, Location: at("http/test/a"), Live: &finding.Live{}},
			finding.High, 3, ""},
		"image": {finding.Finding{Severity: finding.High, Location: at("usr/share/doc/a"), Analysis: finding.Container},
			finding.High, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			terms := len(c.f.Terms)
			if got := Weigh(&c.f); got != c.points || c.f.Severity != c.want {
				t.Errorf("got %s with %d points, want %s with %d", c.f.Severity, got, c.want, c.points)
			}
			if got := Explain(&c.f); got != c.explain {
				t.Errorf("explained as %q, want %q", got, c.explain)
			}
			if name == "raised" && len(c.f.Terms) != terms {
				t.Errorf("terms: %v", c.f.Terms)
			}
		})
	}
}

// at returns a location in the file.
func at(path string) finding.Location { return finding.Location{Path: path} }
