package analyzer

import (
	"testing"
	"testing/fstest"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/finding"
)

// TestInstallsPinned tells commands that install what a lock file says from those that install the
// newest version.
func TestInstallsPinned(t *testing.T) {
	for command, want := range map[string]bool{
		"RUN npm install -g corepack@0.34.6 && corepack enable && pnpm install --frozen-lockfile": true,
		"RUN pnpm i --frozen-lockfile":                                         true,
		"RUN npm install --omit=dev --prefix ui":                               true,
		"RUN npm i @scope/tool@1.2.3":                                          true,
		"RUN npm install ./local.tgz https://r.example/x.tgz git+ssh://h/r":    true,
		"RUN npm install pnpm@$PNPM_VERSION":                                   true,
		`RUN ["npm","add","sax"]`:                                              false,
		`RUN ["npm", "add", "sax@1.0.0"]`:                                      true,
		"RUN npm install sax":                                                  false,
		"RUN npm install @scope/tool":                                          false,
		"RUN yarn global add pnpm && pnpm install --frozen-lockfile":           false,
		"RUN apk add curl && npm install -g pnpm":                              false,
		"RUN npm install --registry https://r.example left-pad; npm run build": false,
	} {
		f := kics.Flaw{Actual: "'" + command + "' does not uses npm install with a pinned version"}
		if got := installsPinned(nil, f); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
}

// TestHasNoToken looks into the file that an image gets.
func TestHasNoToken(t *testing.T) {
	tree := fstest.MapFS{
		"plain/.npmrc": {Data: []byte("registry=https://r.example\n# " +
			"_authToken=x\n//r.example/:_authToken=${TOKEN}\n")},
		"secret/app/x":     {},
		"secret/.npmrc":    {Data: []byte("//r.example/:_authToken=npm_0123456789\n")},
		"plain/web/.npmrc": {Data: []byte("save-exact=true\n")},
	}
	facts := &treeFacts{files: tree, paths: map[string]bool{}}
	for name := range tree {
		facts.paths[name] = true
	}
	for _, c := range []struct {
		path, copied string
		want         bool
	}{
		{"plain/Dockerfile", ".npmrc", true},
		{"plain/docker/Dockerfile", ".npmrc", true},
		{"plain/Dockerfile", "web/.npmrc", true},
		{"secret/app/Dockerfile", ".npmrc", false},
		{"other/Dockerfile", ".npmrc", false},
		{"plain/Dockerfile", ".env", false},
	} {
		f := kics.Flaw{Path: c.path, Actual: c.copied + " is copied into the image"}
		if got := hasNoToken(facts, f); got != c.want {
			t.Errorf("%s copies %s: %t", c.path, c.copied, got)
		}
	}
}

// TestIsAnonymousVolume tells volumes without a source from folders of the host.
func TestIsAnonymousVolume(t *testing.T) {
	trees, err := document.DecodeYAML([]byte("services: {db: {image: x, volumes: [/var/lib/mysql, '/etc:/host', " +
		"{type: bind, " +
		"source: /etc, target: /host}]}}"))
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[string]bool{"0": true, "1": false, "2": false} {
		f := kics.Flaw{Document: &document.Document{Root: trees[0].Root},
			Steps: []string{"services", "db", "volumes", steps}}
		if got := isAnonymousVolume(f); got != want {
			t.Errorf("volume %s: %t", steps, got)
		}
		f.Rule = &finding.Rule{ID: "iac/compose/volume-has-sensitive-host-directory"}
		f.Document.Platform = document.Compose
		if got := termsOf(f); (len(got) == 1 && got[0].Points == hidden) != want {
			t.Errorf("volume %s has the terms %+v", steps, got)
		}
	}
}
