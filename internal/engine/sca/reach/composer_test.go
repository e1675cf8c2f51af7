package reach_test

import (
	"testing"

	"merlon/internal/engine/sca/reach"
	"merlon/internal/finding"
)

const composerLock = `-- composer.lock --
{"packages": [
{"name": "symfony/yaml", "autoload": {"psr-4": {"Symfony\\Component\\Yaml\\": ""}}},
{"name": "twig/twig", "autoload": {"psr-4": {"Twig\\": "src/"}}},
{"name": "acme/helpers", "autoload": {"files": ["helpers.php"], "psr-4": {"Acme\\": "src"}}},
{"name": "acme/bundle", "type": "symfony-bundle", "autoload": {"psr-4": {"Bundle\\": "src"}}}],
"packages-dev": []}
`

// What a PHP program uses is told by the namespaces of the lock file.
func TestPHP(t *testing.T) {
	flaw := reach.Flaw{Functions: []string{"parse"}}
	for _, c := range []struct {
		name, code, pkg string
		want            finding.ReachVerdict
		tests           bool
	}{
		{"called", "-- src/A.php --\n<?php\nuse Symfony\\Component\\Yaml\\Yaml;\nYaml::parse('a');\n", "symfony/yaml",
			finding.Reachable, false},
		{"imported", "-- src/A.php --\n<?php\nuse Symfony\\Component\\Yaml\\Yaml;\nYaml::dump([]);\n", "symfony/yaml",
			finding.Imported, false},
		{"by tests", "-- src/A.php --\n<?php\necho 1;\n-- tests/ATest.php --\n<?php\nuse Symfony\\Component\\Yaml\\Yaml;\n" +
			"Yaml::dump([]);\n", "symfony/yaml", finding.Imported, true},
		{"not imported", "-- src/A.php --\n<?php\nuse Symfony\\Component\\YamlOther\\B;\nB::x();\n", "symfony/yaml",
			finding.NotFound, false},
		{"inherited by its whole name", "-- src/A.php --\n<?php\nclass A extends \\Twig\\Environment {}\n", "twig/twig",
			finding.UnknownReach, false},
		{"named by settings", "-- src/A.php --\n<?php\necho 1;\n-- config/a.yaml --\nx: Twig\\Environment\n", "twig/twig",
			finding.UnknownReach, false},
		{"functions without a namespace", "-- src/A.php --\n<?php\nhelp();\n", "acme/helpers", finding.UnknownReach, false},
		{"found by a framework", "-- src/A.php --\n<?php\necho 1;\n", "acme/bundle", finding.UnknownReach, false},
		{"not in the lock file", "-- src/A.php --\n<?php\necho 1;\n", "acme/other", finding.UnknownReach, false},
	} {
		pkg := direct("Packagist", c.pkg)
		got := program(t, composerLock+c.code, pkg).Verdict(&pkg, flaw)
		if got.Verdict != c.want || got.TestsOnly != c.tests {
			t.Errorf("%s: got %s, tests only %v, %s; want %s", c.name, got.Verdict, got.TestsOnly, got.Reason, c.want)
		}
	}
}
