package sast

import (
	"testing"

	"merlon/internal/engine/sast/rule"
)

func TestApplies(t *testing.T) {
	for _, c := range []struct {
		include, exclude []string
		path             string
		want             bool
	}{
		{nil, nil, "a/b.py", true},
		{[]string{"*.py"}, nil, "a/b.py", true},
		{[]string{"*.js"}, nil, "a/b.py", false},
		{nil, []string{"tests/"}, "a/tests/b.py", false},
		{nil, []string{"/tests"}, "a/tests/b.py", true},
		{[]string{"src/**/*.go"}, []string{"*_test.go"}, "src/a/b/c.go", true},
		{[]string{"src/**/*.go"}, []string{"*_test.go"}, "src/a/c_test.go", false},
		{[]string{"src/**"}, nil, "src/a", true},
		{[]string{"src/*.go"}, nil, "x/src/a.go", true},
		{[]string{"/src/*.go"}, nil, "x/src/a.go", false},
		{[]string{"./src/"}, nil, "x/src/y/a.go", true},
		{[]string{"[a-c]?.go"}, nil, "x/bb.go", true},
		{[]string{"[!a-c]?.go"}, nil, "x/bb.go", false},
	} {
		r := &rule.Rule{Include: c.include, Exclude: c.exclude}
		if got := Applies(r, c.path); got != c.want {
			t.Errorf("include %v, exclude %v, %s: got %v, want %v", c.include, c.exclude, c.path, got, c.want)
		}
	}
}
