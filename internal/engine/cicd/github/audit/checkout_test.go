package audit

import "testing"

func TestCheckCheckouts(t *testing.T) {
	runBodyCheck(t, checkCheckouts, []checkCase{
		{"the default keeps the token", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - run: make
`, []string{"6 persisted-credentials - - -1"}},
		{"and an upload of the folder publishes it", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/upload-artifact@v4
        with: {path: ./}
`, []string{"6 persisted-credentials high certain"}},
		{"the workspace by its expression", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/upload-artifact@v4
        with:
          path: ${{ github.workspace }}
`, []string{"6 persisted-credentials high certain"}},
		{"a folder of the workspace", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/upload-artifact@v4
        with:
          path: ${{ github.workspace }}/dist
`, []string{"6 persisted-credentials - - -1"}},
		{"without hidden files", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - uses: actions/upload-artifact@v4
        with: {path: ., include-hidden-files: false}
`, []string{"6 persisted-credentials - - -1"}},
		{"the folder of the checkout", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {path: src, persist-credentials: true}
      - uses: actions/upload-artifact@v4
        with: {path: src/}
`, []string{"6 persisted-credentials high certain"}},
		{"version 6 keeps the token elsewhere", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v6
        with: {persist-credentials: true}
      - uses: actions/upload-artifact@v4
        with: {path: .}
`, []string{"6 persisted-credentials - uncertain -1"}},
		{"off", `on: push
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {persist-credentials: "False"}
`, nil},
	})
}

func TestCheckUntrustedCheckout(t *testing.T) {
	runBodyCheck(t, checkUntrustedCheckout, []checkCase{
		{"fetched and built", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.event.pull_request.head.sha }}"}
      - run: npm ci
`, []string{"6 untrusted-checkout - -"}},
		{"fetched only", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.event.pull_request.head.sha }}"}
      - run: wc -l README.md
`, []string{"6 untrusted-checkout medium likely"}},
		{"by git", `on: issue_comment
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - run: |
          gh pr checkout ${{ github.event.issue.number }}
          make
`, []string{"7 untrusted-checkout - -"}},
		{"after a label", `on: pull_request_target
jobs:
  a:
    if: contains(github.event.pull_request.labels.*.name, 'safe')
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.event.pull_request.head.sha }}"}
      - run: make
`, []string{"7 untrusted-checkout - uncertain -2"}},
		{"the condition of the step", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        if: github.event.pull_request.author_association == 'MEMBER'
        with: {ref: "${{ github.head_ref }}"}
      - run: make
`, []string{"6 untrusted-checkout - uncertain -2"}},
		{"an environment decides", `on: pull_request_target
jobs:
  a:
    environment: review
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - run: make
`, []string{"7 untrusted-checkout - uncertain -2"}},
		{"a job before checks the permission", `on: issue_comment
jobs:
  gate:
    runs-on: x
    steps:
      - run: gh api repos/o/r/collaborators/$ACTOR/permission
  a:
    needs: gate
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "refs/pull/${{ github.event.issue.number }}/merge"}
      - run: make
`, []string{"11 untrusted-checkout - uncertain -2"}},
		{"always() runs in spite of that job", `on: issue_comment
jobs:
  gate:
    runs-on: x
    steps:
      - uses: actions-cool/check-user-permission@v2
  a:
    needs: gate
    if: always()
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "refs/pull/${{ github.event.issue.number }}/merge"}
      - run: make
`, []string{"12 untrusted-checkout - -"}},
		{"a check behind the checkout comes too late", `on: issue_comment
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "refs/pull/${{ github.event.issue.number }}/merge"}
      - run: make
      - uses: actions-cool/check-user-permission@v2
`, []string{"6 untrusted-checkout - -"}},
		{"the base", `on: pull_request_target
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
      - run: make
`, nil},
		{"an unprivileged event", `on: pull_request
jobs:
  a:
    runs-on: x
    steps:
      - uses: actions/checkout@v4
        with: {ref: "${{ github.head_ref }}"}
      - run: make
`, nil},
	})
}
