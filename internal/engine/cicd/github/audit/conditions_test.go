package audit

import "testing"

// stepsOn is a workflow of one job with the condition or the texts of its steps.
func stepsOn(event, steps string) string {
	return "on: " + event + "\njobs:\n  a:\n    runs-on: x\n    steps:\n" + steps
}

func TestCheckConditions(t *testing.T) {
	runBodyCheck(t, checkConditions, []checkCase{
		{"text around the expression", stepsOn("push", `
      - run: make
        if: ${{ github.ref == 'a' }} && true
`), []string{"8 unsound-condition - -"}},
		{"two expressions", stepsOn("push", `
      - run: make
        if: ${{ false }} || ${{ false }}
`), []string{"8 unsound-condition - -"}},
		{"one expression", stepsOn("push", `
      - run: make
        if: ${{ github.ref == 'a' }}
`), nil},
		{"the actor is a bot", stepsOn("pull_request_target", `
      - run: make
        if: github.actor == 'dependabot[bot]'
`), []string{"8 spoofable-actor - -"}},
		{"the actor is one part of the condition", stepsOn("pull_request_target", `
      - run: make
        if: github.actor == 'dependabot[bot]' && github.ref == 'a'
`), []string{"8 spoofable-actor - likely"}},
		{"the actor of an event without secrets", stepsOn("pull_request", `
      - run: make
        if: "'dependabot[bot]' == github.actor"
`), []string{"8 spoofable-actor low uncertain -1"}},
		{"the number of the actor", stepsOn("pull_request_target", `
      - run: make
        if: github.actor_id == 49699333 || github.event.sender.id == '41898282'
`), []string{"8 spoofable-actor - -"}},
		{"the name by its end", stepsOn("pull_request_target", `
      - run: make
        if: endsWith(github.actor, '[bot]')
`), []string{"8 spoofable-actor - -"}},
		{"an actor who is no bot", stepsOn("pull_request_target", `
      - run: make
        if: github.actor == 'octocat' || github.actor != 'renovate[bot]'
`), nil},
		{"the author", stepsOn("pull_request_target", `
      - run: make
        if: github.event.pull_request.user.login == 'dependabot[bot]'
`), nil},
		{"contains in a text, of what an attacker names", stepsOn("pull_request", `
      - run: make
        if: contains('refs/heads/main refs/heads/develop', github.ref)
`), []string{"8 unsound-contains - -"}},
		{"contains in a text, of what the matrix names", stepsOn("pull_request", `
      - run: make
        if: contains('linux macos', matrix.os)
`), []string{"8 unsound-contains low uncertain"}},
		{"contains in a list", stepsOn("pull_request", `
      - run: make
        if: contains(fromJSON('["a","b"]'), github.ref)
`), nil},
		{"the condition of the job", `on: pull_request_target
jobs:
  a:
    if: github.actor == 'dependabot[bot]'
    runs-on: x
    steps: [{run: make}]
`, []string{"4 spoofable-actor - -"}},
	})
}

func TestCheckExpressions(t *testing.T) {
	runFileCheck(t, checkExpressions, []checkCase{
		{"every secret", stepsOn("push", `
      - run: make
        env: {ALL: "${{ toJSON(secrets) }}"}
`), []string{"8 overprovisioned-secrets - -"}},
		{"a secret that an expression chooses", stepsOn("push", `
      - run: make
        env: {ONE: "${{ secrets[matrix.name] }}"}
`), []string{"8 overprovisioned-secrets - -"}},
		{"one secret, by member and by fixed index", stepsOn("push", `
      - run: make
        env: {A: "${{ secrets.A }}", B: "${{ secrets['B'] }}"}
`), nil},
		{"a part of a secret", stepsOn("push", `
      - run: make
        env: {A: "${{ fromJSON(secrets.A).password }}"}
`), []string{"8 unredacted-secret - -"}},
		{"what is always the same", stepsOn("push", `
      - run: make
        env:
          A: ${{ format('{0}', 'a') }}
          B: ${{ fromJSON(toJSON(github.ref)) }}
          C: ${{ 'b' }}
          D: ${{ join(fromJSON('["a"]'), '') }}
`), []string{"9 obfuscation - -", "10 obfuscation - -", "11 obfuscation - -"}},
		{"what people cannot write otherwise", stepsOn("push", `
      - run: make
        if: false
        env:
          A: ${{ fromJSON('["a"]') }}
          B: ${{ format('{0}', github.ref) }}
          C: ${{ toJSON(github.event) }}
`), nil},
		{"a ternary that never takes its second value", stepsOn("push", `
      - run: make
        env:
          A: ${{ github.ref == 'a' && '' || 'b' }}
          B: ${{ github.ref == 'a' && false || false }}
          C: ${{ github.ref == 'a' && 'b' || '' }}
`), []string{"9 unsound-ternary - -"}},
		{"a condition without braces", stepsOn("push", `
      - run: make
        if: fromJSON(secrets.A).enabled
`), []string{"8 unredacted-secret - -"}},
	})
}

func TestCheckSecretsOutsideEnvironment(t *testing.T) {
	runBodyCheck(t, checkSecretsOutsideEnvironment, []checkCase{
		{"without one", stepsOn("push", `
      - run: make
        env: {A: "${{ secrets.DEPLOY_KEY }}", B: "${{ secrets.GITHUB_TOKEN }}"}
      - uses: a/b@v1
        with: {key: "x ${{ secrets.OTHER }}"}
`), []string{"8 secrets-outside-environment - -", "10 secrets-outside-environment - -"}},
		{"with one", `on: push
jobs:
  a:
    runs-on: x
    environment: production
    steps: [{run: make, env: {A: "${{ secrets.A }}"}}]
`, nil},
		{"of the caller", stepsOn("workflow_call", `
      - run: make
        env: {A: "${{ secrets.A }}"}
`), nil},
	})
}
