package lang

import "testing"

func TestAside(t *testing.T) {
	for name, want := range map[string]struct{ test, aside bool }{
		"server/handler_test.go":                         {true, true},
		"test/handler.go":                                {false, false},
		"_examples/todo/main.go":                         {false, true},
		"tests/test_views.py":                            {true, true},
		"app/views_test.py":                              {true, true},
		"app/contest.py":                                 {false, false},
		"testcode/views.py":                              {false, false},
		"conftest.py":                                    {true, true},
		"src/__tests__/a.tsx":                            {true, true},
		"src/user.spec.ts":                               {true, true},
		"examples/auth/index.js":                         {false, true},
		"lib/examples.js":                                {false, false},
		"bench/run.mjs":                                  {false, true},
		"core/src/test/java/org/acme/UserTest.java":      {true, true},
		"src/main/java/com/example/demo/User.java":       {false, false},
		"src/main/java/org/acme/benchmark/test/Run.java": {false, false},
		"examples/shop/src/main/java/org/acme/Shop.java": {false, true},
		"src/org/acme/sample/Shop.java":                  {false, false},
		"web/test/fixtures/page.html":                    {true, true},
	} {
		if got := Test(name); got != want.test {
			t.Errorf("Test(%q) = %v", name, got)
		}
		if got := Aside(name); got != want.aside {
			t.Errorf("Aside(%q) = %v", name, got)
		}
	}
}

func TestTestsByWhatTheyHold(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"blood_test.py", "import flask\n\ndef result(sample):\n    return sample\n", false},
		{"test_stand.py", "def start():\n    pass\n", false},
		{"test_stand.py", "def test_start():\n    pass\n", true},
		{"test_stand.py", "class Suite:\n    def test_start(self):\n        pass\n", true},
		{"stand_test.py", "import pytest\n", true},
		{"stand_test.py", "from unittest import mock\n", true},
		{"conftest.py", "def client():\n    pass\n", true},
		{"tests/test_data.py", "ROWS = []\n", true},
		{"tests/data.py", "ROWS = []\n", true},
		{"shop/views.py", "def test_mode():\n    pass\n", false},
		{"server/handler_test.go", "package server\n", true},
		{"src/user.spec.ts", "", true},
	} {
		if got := Tests(c.name, []byte(c.text)); got != c.want {
			t.Errorf("Tests(%q, %q) = %v", c.name, c.text, got)
		}
	}
}

func TestThirdParty(t *testing.T) {
	for name, want := range map[string]string{
		"src/main.go":                     "",
		"node_modules/a/b.js":             "node_modules/",
		"web/node_modules/a/b.js":         "web/node_modules/",
		"vendor/github.com/a/b.go":        "vendor/",
		"vendor/autoload/x.php":           "",
		"lib/vendor.js":                   "",
		"vendor/composer/ClassLoader.php": "vendor/",
	} {
		if got := ThirdParty(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
