package audit

import "testing"

func TestCheckJobs(t *testing.T) {
	runFileCheck(t, checkJobs, []checkCase{
		{"a machine of one's own that attackers start", `on: pull_request
jobs:
  a:
    runs-on: [self-hosted, linux]
    steps: [{run: make}]
`, []string{"4 self-hosted-runner high likely"}},
		{"a machine of one's own", `on: push
jobs:
  a:
    runs-on: Self-Hosted
    steps: [{run: make}]
`, []string{"4 self-hosted-runner - - -1"}},
		{"a group of machines", `on: pull_request
jobs:
  a:
    runs-on: {group: builders}
    steps: [{run: make}]
`, []string{"4 self-hosted-runner - - -1"}},
		{"a value of the matrix", `on: push
jobs:
  a:
    strategy:
      matrix:
        os: [ubuntu-latest, self-hosted]
    runs-on: ${{ matrix.os }}
    steps: [{run: make}]
`, []string{"7 self-hosted-runner - - -1"}},
		{"a value that the matrix excludes", `on: push
jobs:
  a:
    strategy:
      matrix:
        os: [ubuntu-latest, self-hosted]
        exclude: [{os: self-hosted}]
    runs-on: ${{ matrix.os }}
    steps: [{run: make}]
`, nil},
		{"a value that the matrix includes", `on: push
jobs:
  a:
    strategy:
      matrix:
        os: [{name: ubuntu-latest}]
        include: [{os: {name: self-hosted}}]
    runs-on: ${{ matrix.os.name }}
    steps: [{run: make}]
`, []string{"8 self-hosted-runner - - -1"}},
		{"either of two", `on: push
jobs:
  a:
    runs-on: ${{ github.ref == 'a' && 'ubuntu-latest' || fromJSON('["self-hosted", "linux"]') }}
    steps: [{run: make}]
`, []string{"4 self-hosted-runner - - -1"}},
		{"a machine of GitHub's", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps: [{run: make}]\n", nil},
		{"every secret to a workflow", `on: push
jobs:
  a:
    uses: org/repo/.github/workflows/x.yml@0123456789012345678901234567890123456789
    secrets: inherit
  b:
    uses: ./.github/workflows/y.yml
    secrets: inherit
`, []string{"4 secrets-inherit - -", "7 secrets-inherit - uncertain -2"}},
		{"a workflow by its tag", `on: push
jobs:
  a:
    uses: org/repo/.github/workflows/x.yml@v1
`, []string{"4 unpinned-uses - uncertain"}},
		{"images of a job", `on: push
jobs:
  a:
    runs-on: x
    container: node
    services:
      db: {image: "postgres:16"}
    steps: [{run: make}]
`, []string{"5 unpinned-image - -", "7 unpinned-image - uncertain -2"}},
		{"the loosest image of a matrix", `on: push
jobs:
  a:
    strategy: {matrix: {image: ["node:20", node]}}
    runs-on: x
    container: ${{ matrix.image }}
    steps: [{run: make}]
`, []string{"6 unpinned-image - -"}},
		{"an image that is known when it runs", `on: push
jobs:
  a:
    runs-on: x
    container: ${{ vars.IMAGE }}
    steps: [{run: make}]
  b:
    runs-on: x
    container: ${{ vars.IMAGE || '' }}
    steps: [{run: make}]
`, []string{"5 unpinned-image - uncertain -1"}},
		{"passwords of registries", `on: push
jobs:
  a:
    runs-on: x
    container:
      image: a@sha256:0123456789012345678901234567890123456789012345678901234567890123
      credentials: {username: u, password: hunter22}
    services:
      b:
        image: a@sha256:0123456789012345678901234567890123456789012345678901234567890123
        credentials: {username: u, password: "${{ secrets.P }}"}
    steps: [{run: make}]
`, []string{"7 container-credentials - -"}},
	})
}
