package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckInjection(t *testing.T) {
	runBodyCheck(t, checkInjection, []checkCase{
		{"a title in a script", stepsOn("issues", `
      - run: echo "${{ github.event.issue.title }}"
`), []string{"7 template-injection - -"}},
		{"a branch of a fork, which brings no rights", stepsOn("pull_request", `
      - run: |
          echo start
          echo "${{ github.head_ref }}"
`), []string{"9 template-injection medium likely -1"}},
		{"a ref that writers choose", stepsOn("push", `
      - run: echo ${{ github.ref_name }}
`), []string{"7 template-injection low uncertain -1"}},
		{"nothing is known of it", stepsOn("issues", `
      - run: echo ${{ vars.NAME }}
`), []string{"7 template-injection low uncertain -1"}},
		{"harmless, but code", stepsOn("issues", `
      - run: echo ${{ github.sha }}
`), []string{"7 expression-in-script - -"}},
		{"fixed", stepsOn("issues", `
      - run: echo ${{ 'a' }}
`), nil},
		{"through a variable, quoted by the shell", stepsOn("issues", `
      - run: echo "$TITLE"
        env: {TITLE: "${{ github.event.issue.title }}"}
`), nil},
		{"through a variable that is run", stepsOn("issues", `
      - run: |
          eval "$TITLE"
        env: {TITLE: "${{ github.event.issue.title }}"}
`), []string{"8 template-injection - -"}},
		{"an input that is run", stepsOn("issue_comment", `
      - uses: actions/github-script@v7
        with:
          script: |
            console.log("${{ github.event.comment.body }}")
      - uses: some/action@v1
        with: {script: "${{ github.event.comment.body }}"}
`), []string{"10 template-injection - -"}},
		{"a step that never runs", stepsOn("issues", `
      - run: echo "${{ github.event.issue.title }}"
        if: false
`), nil},
		{"outputs and jobs lead to it", `on: issues
jobs:
  a:
    runs-on: x
    outputs: {title: "${{ steps.s.outputs.title }}"}
    steps:
      - id: s
        run: echo "title=$TITLE" >> "$GITHUB_OUTPUT"
        env: {TITLE: "${{ github.event.issue.title }}"}
  b:
    needs: a
    runs-on: x
    steps:
      - run: echo ${{ needs.a.outputs.title }}
`, []string{"14 template-injection - -"}},
	})
}

// An action is reported for its own inputs, and for what workflows of the tree pass.
func TestCheckInjectionInAction(t *testing.T) {
	files := map[string]string{
		".github/workflows/a.yml": "on: issues\njobs:\n  a:\n    runs-on: x\n    steps:\n" +
			"    - uses: ./say\n      with: {text: \"${{ github.event.issue.title }}\"}\n",
		"say/action.yml": `name: Say
inputs:
  text: {required: true}
  other: {default: a}
runs:
  using: composite
  steps:
    - run: echo ${{ inputs.text }} ${{ inputs.other }}
      shell: bash
`,
	}
	p, found := newPass(t, files, "say/action.yml")
	for _, b := range p.File.Bodies() {
		checkInjection(p, b)
	}
	want := []string{"8 template-injection - -", "8 template-injection low uncertain -1"}
	if diff := cmp.Diff(want, *found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestCheckProgramArguments(t *testing.T) {
	const env = "        env: {TITLE: \"${{ github.event.issue.title }}\", FIXED: a}\n"
	runBodyCheck(t, checkProgramArguments, []checkCase{
		{"a program of sed", stepsOn("issues", `
      - run: sed -i "s/a/$TITLE/" file
`+env), []string{"7 argument-injection - -"}},
		{"a program of awk", stepsOn("issues", `
      - run: awk "/${TITLE}/ {print}" file
`+env), []string{"7 argument-injection - -"}},
		{"a file, not a program", stepsOn("issues", `
      - run: sed -n 1p "$TITLE"
`+env), nil},
		{"a text of the input", stepsOn("issues", `
      - run: sed -n 1p <<< "a $TITLE"
`+env), nil},
		{"fixed", stepsOn("issues", `
      - run: sed -i "s/a/$FIXED/" file
`+env), nil},
		{"the shell does not expand it", stepsOn("issues", `
      - run: sed -i 's/a/$TITLE/' file
`+env), nil},
	})
}

func TestCheckOutputClobbering(t *testing.T) {
	const env = "        env: {BODY: \"${{ github.event.issue.body }}\", TITLE: \"${{ github.event.issue.title }}\"}\n"
	runBodyCheck(t, checkOutputClobbering, []checkCase{
		{"a body beside another output", stepsOn("issues", `
      - run: |
          echo "safe=yes" >> $GITHUB_OUTPUT
          echo "body=$BODY" >> $GITHUB_OUTPUT
`+env), []string{"9 output-clobbering - likely"}},
		{"the only output", stepsOn("issues", `
      - run: |
          echo "body=$BODY" >> $GITHUB_OUTPUT
`+env), nil},
		{"a title has one line", stepsOn("issues", `
      - run: |
          echo "safe=yes" >> $GITHUB_OUTPUT
          echo "title=$TITLE" >> $GITHUB_OUTPUT
`+env), nil},
		{"a body in the log of set-output", stepsOn("issues", `
      - run: |
          echo "$BODY"
          echo "::set-output name=safe::yes"
`+env), []string{"8 output-clobbering - likely"}},
		{"an unprivileged event", stepsOn("pull_request", `
      - run: |
          echo "safe=yes" >> $GITHUB_OUTPUT
          echo "body=$BODY" >> $GITHUB_OUTPUT
        env: {BODY: "${{ github.event.pull_request.body }}"}
`), nil},
	})
}
