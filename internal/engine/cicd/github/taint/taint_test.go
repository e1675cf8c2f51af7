package taint

import (
	"testing"

	"merlon/internal/engine/cicd/github/expression"
	"merlon/internal/engine/cicd/github/workflow"
)

func TestOrigins(t *testing.T) {
	const text = `on: [issues, workflow_dispatch]
env:
  TITLE: ${{ github.event.issue.title }}
  FIXED: plain
jobs:
  a:
    runs-on: x
    outputs:
      t: ${{ steps.s.outputs.t }}
    steps:
      - id: s
        run: echo "t=$TITLE" >> $GITHUB_OUTPUT
      - run: make
`
	f, err := workflow.Read(".github/workflows/a.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tracker := &Tracker{Tree: workflow.NewTree([]*workflow.File{f})}
	at := Site{Body: f.Bodies()[0], Step: 1}
	for value, want := range map[string]Trust{
		"github.event.issue.title":  Untrusted,
		"github.event.issue.number": Safe,
		"github.sha":                Safe,
		"github.token":              Secret,
		"secrets.X":                 Secret,
		"github.ref_name":           Writers,
		"env.TITLE":                 Untrusted,
		"env.FIXED":                 Safe,
		"env.MISSING":               Unknown,
		"steps.s.outputs.t":         Untrusted,
		"steps.s.outputs.other":     Unknown,
		"steps.s.outcome":           Safe,
		"needs.a.outputs.t":         Untrusted,
	} {
		root, err := expression.Parse(value)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		worst, ok := WorstOrigin(tracker.Origins(root, at))
		if !ok || worst.Trust != want {
			t.Errorf("origin of %s is %+v, %v, want trust %d", value, worst, ok, want)
		}
	}
}

func TestActionSlug(t *testing.T) {
	for uses, want := range map[string]string{"Actions/Checkout@v4": "actions/checkout", "a/b/c@main": "a/b",
		"./local": "./local", "docker://alpine:3": "docker://alpine:3"} {
		if got := ActionSlug(uses); got != want {
			t.Errorf("ActionSlug(%q) = %q, want %q", uses, got, want)
		}
	}
}
