package compose

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// load loads one of the files.
func load(t *testing.T, files map[string]string, name string) Model {
	t.Helper()
	trees, err := document.DecodeYAML([]byte(files[name]))
	if err != nil || len(trees) != 1 {
		t.Fatalf("%d trees, error %v", len(trees), err)
	}
	return Load(name, trees[0], from(files))
}

func from(files map[string]string) Source {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no file")
	}
}

// leaves writes each value below the services with its place.
func leaves(m Model, file string) map[string]string {
	out := map[string]string{}
	var walk func(v any, n *document.Node, path string)
	walk = func(v any, n *document.Node, path string) {
		switch v := v.(type) {
		case map[string]any:
			for key, e := range v {
				walk(e, n.Fields[key], path+"/"+key)
			}
		case []any:
			for i, e := range v {
				walk(e, n.Items[i], fmt.Sprintf("%s/%d", path, i))
			}
		default:
			d := document.Document{Path: file}
			out[path] = fmt.Sprintf("%v %s:%d", v, d.File(n), n.Line)
		}
	}
	if v, ok := m.Root["services"]; ok {
		walk(v, m.Lines.Fields["services"], "")
	}
	return out
}

func gaps(m Model) []string {
	var out []string
	for _, g := range m.Gaps {
		out = append(out, fmt.Sprintf("%s:%d %s: %s", g.Path, g.Line, g.Code, g.Message))
	}
	return out
}

func TestLoad(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		file  string
		want  map[string]string // some of the leaves; "" is none
		gaps  []string
		parts []string
	}{
		{
			name: "include", file: "shop/compose.yaml",
			files: map[string]string{
				"shop/compose.yaml": "include:\n  - db/compose.yaml\n  - path: [tools/base.yaml, " +
					"tools/local.yaml]\n    env_file: tools/local.env\nservices:\n  web:\n    image: web:1\n",
				"shop/.env": "TAG=16\n",
				"shop/db/compose.yaml": "include: [../cache.yaml]\nservices:\n  db:\n    image: postgres:${TAG}\n " +
					"   shm_size: ${SIZE:-1g}\n  web:\n    image: other\n",
				"shop/db/.env":    "TAG=9\nSIZE=2g\n",
				"shop/cache.yaml": "services:\n  cache:\n    image: redis\n",
				"shop/tools/base.yaml": "services:\n  shell:\n    image: sh\n    privileged: false\n    profiles: " +
					"[debug]\n",
				"shop/tools/local.yaml":   "services:\n  shell:\n    privileged: ${PRIVILEGED}\n",
				"shop/tools/local.env":    "PRIVILEGED=true\n",
				"shop/tools/not-included": "x",
			},
			want: map[string]string{
				"/web/image": "web:1 shop/compose.yaml:7", "/db/image": "postgres:16 shop/db/compose.yaml:4",
				"/db/shm_size": "2g shop/db/compose.yaml:5",
				"/cache/image": "redis shop/cache.yaml:3", "/shell/image": "sh shop/tools/base.yaml:3",
				"/shell/privileged": "true shop/tools/local.yaml:3",
				"/shell/profiles/0": "debug shop/tools/base.yaml:5",
			},
			parts: []string{"shop/cache.yaml", "shop/db/compose.yaml", "shop/tools/base.yaml", "shop/tools/local.yaml"},
		},
		{
			name: "only inclusions", file: "compose.yml",
			files: map[string]string{"compose.yml": "include: [a/b.yml]\n", "a/b.yml": "services: {a: {image: b}}\n"},
			want:  map[string]string{"/a/image": "b a/b.yml:1"}, parts: []string{"a/b.yml"},
		},
		{
			name: "what is not included", file: "compose.yml",
			files: map[string]string{
				"compose.yml": "include:\n  - gone.yaml\n  - oci://registry.example.com/app:1\n  - ${WHERE}/x.yaml\n " +
					" - ../up.yaml\n  - broken.yaml\n  - compose.yml\n  - {path: []}\n",
				"broken.yaml": "services: [\n",
			},
			gaps: []string{
				"compose.yml:2 unavailable: the included file gone.yaml is not analyzed: it is not part of the " +
					"tree, and nothing is fetched",
				"compose.yml:3 unavailable: the included file oci://registry.example.com/app:1 is not analyzed: it " +
					"is not part of the tree, and nothing is fetched",
				"compose.yml:4 unavailable: the included file ${WHERE}/x.yaml is not analyzed: the value of its " +
					"variable is not known",
				"compose.yml:5 unavailable: the included file ../up.yaml is not analyzed: it lies outside of the tree",
				"compose.yml:6 unavailable: the included file broken.yaml is not analyzed: line 1: not valid YAML: " +
					"did not find expected node content",
				"compose.yml:7 too-complex: files include each other in a circle, too deeply or too often",
				"compose.yml:8 malformed: the entry of include names no file",
			},
		},
		{
			name: "a gap of an included file stands there", file: "compose.yml",
			files: map[string]string{"compose.yml": "include: [a/b.yml]\n", "a/b.yml": "include:\n  - " +
				"c.yml\nservices:\n  a:\n    extends: {file: d.yml, service: e}\n"},
			gaps: []string{
				"a/b.yml:5 unavailable: the extended service e of d.yml is not analyzed: it is not part of the " +
					"tree, and nothing is fetched",
				"a/b.yml:2 unavailable: the included file c.yml is not analyzed: it is not part of the tree, and " +
					"nothing is fetched",
			},
			parts: []string{"a/b.yml"},
		},
		{
			name: "an override", file: "docker-compose.override.yml",
			files: map[string]string{
				"docker-compose.yml": "services:\n  web:\n    image: web\n    command: [serve, --port, " +
					"\"80\"]\n    environment: [A=1, B=2]\n    volumes: [./src:/src, data:/data]\n    ports: " +
					"[\"8080:80\"]\n    build: .\n    cap_add: [NET_ADMIN]\n    depends_on: [db]\n    dns: " +
					"[1.1.1.1]\n  db:\n    image: db\n",
				"docker-compose.override.yml": "services:\n  web:\n    privileged: true\n    command: [debug]\n    " +
					"environment: {B: 3}\n    volumes: [/var/run/docker.sock:/src]\n    ports: !override " +
					"[\"9090:80\"]\n    build: {target: dev}\n    cap_add: !reset []\n    depends_on: {db: " +
					"{condition: service_healthy}}\n    dns: [1.1.1.1, 8.8.8.8]\n",
			},
			want: map[string]string{
				"/web/image": "web docker-compose.yml:3", "/db/image": "db docker-compose.yml:13",
				"/web/privileged": "true docker-compose.override.yml:3",
				"/web/command/0":  "debug docker-compose.override.yml:4", "/web/command/1": "",
				"/web/environment/A": "1 docker-compose.yml:5", "/web/environment/B": "3 docker-compose.override.yml:5",
				"/web/volumes/0": "/var/run/docker.sock:/src docker-compose.override.yml:6",
				"/web/volumes/1": "data:/data docker-compose.yml:6",
				"/web/ports/0":   "9090:80 docker-compose.override.yml:7", "/web/ports/1": "",
				"/web/build/context": ". docker-compose.yml:8",
				"/web/build/target":  "dev docker-compose.override.yml:8", "/web/cap_add/0": "",
				"/web/depends_on/db/condition": "service_healthy docker-compose.override.yml:10",
				"/web/dns/1":                   "8.8.8.8 docker-compose.override.yml:11", "/web/dns/2": "",
			},
			parts: []string{"docker-compose.yml"},
		},
		{
			name: "parts of services for another environment", file: "docker-compose.prod.yml",
			files: map[string]string{
				"docker-compose.base.yml": "services: {web: {image: web}}\n",
				"docker-compose.prod.yml": "services: {web: {network_mode: host}}\n",
			},
			want: map[string]string{"/web/image": "web docker-compose.base.yml:1",
				"/web/network_mode": "host docker-compose.prod.yml:1"}, parts: []string{"docker-compose.base.yml"},
		},
		{
			name: "a whole file beside another", file: "docker-compose.test.yml",
			files: map[string]string{
				"docker-compose.yml":      "services: {web: {image: web}}\n",
				"docker-compose.test.yml": "services: {test: {image: test}}\n",
			},
			want: map[string]string{"/test/image": "test docker-compose.test.yml:1", "/web/image": ""},
		},
		{
			name: "parts of services alone", file: "docker-compose.prod.yml",
			files: map[string]string{"docker-compose.prod.yml": "x-a: 1\nservices:\n  web: {privileged: true}\n"},
			gaps: []string{"docker-compose.prod.yml:2 unavailable: its services have neither an image nor a build: " +
				"it is laid over a file that is not beside it"},
		},
		{
			name: "extends", file: "a/compose.yaml",
			files: map[string]string{
				"a/common/base.yaml": "services:\n  base:\n    extends: root\n    read_only: true\n    ports: " +
					"[\"1:1\"]\n    environment: {A: x, B: y}\n    command: [a]\n  root:\n    privileged: true\n    " +
					"depends_on: [z]\n",
				"a/compose.yaml": "services:\n  web:\n    extends: {file: common/base.yaml, service: base}\n    " +
					"image: web\n    ports: [\"2:2\"]\n    environment: [B=z]\n    command: [b]\n  near:\n    " +
					"extends: web\n    privileged: false\n  lost:\n    extends: {service: none}\n  loop:\n    " +
					"extends: {service: loop}\n    image: x\n",
			},
			want: map[string]string{
				"/web/read_only": "true a/common/base.yaml:4", "/web/privileged": "true a/common/base.yaml:9",
				"/web/image":   "web a/compose.yaml:4",
				"/web/ports/0": "1:1 a/common/base.yaml:5", "/web/ports/1": "2:2 a/compose.yaml:5",
				"/web/environment/A": "x a/common/base.yaml:6",
				"/web/environment/B": "z a/compose.yaml:6", "/web/command/0": "b a/compose.yaml:7",
				"/web/command/1": "", "/web/depends_on/0": "",
				"/near/read_only": "true a/common/base.yaml:4", "/near/privileged": "false a/compose.yaml:10",
				"/near/image": "web a/compose.yaml:4",
			},
			gaps: []string{
				"a/compose.yaml:14 too-complex: the extended service loop is not analyzed: services extend each " +
					"other in a circle, too deeply or too often",
				"a/compose.yaml:12 unavailable: the extended service none is not analyzed: there is none of the name",
			},
			parts: []string{"a/common/base.yaml"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := load(t, tt.files, tt.file)
			got := leaves(m, tt.file)
			for path, want := range tt.want {
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
			}
			if t.Failed() {
				t.Logf("services: %v", strings.Join(sorted(got), "\n"))
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.gaps)),
				slices.Sorted(slices.Values(gaps(m)))); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.parts, m.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if fragment := tt.name == "parts of services alone"; m.Fragment != fragment {
				t.Errorf("fragment is %v", m.Fragment)
			}
		})
	}
}

func sorted(m map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+" "+m[key])
	}
	return out
}

func TestVariables(t *testing.T) {
	m := load(t, map[string]string{
		"a/.env": "# ports\nPORT=8080 # the outer one\nexport TAG='1.2 " +
			"#3'\nEMPTY=\nON=true\nDB_PASSWORD=hunter2\nno line\n",
		"a/compose.yaml": `services:
  web:
    image: "web:${TAG}"
    privileged: ${ON}
    ports: ["$PORT:80", "${OTHER:-90}:90", "${EMPTY:-91}:91", "${EMPTY-92}:92", "${PORT-93}:93"]
    command: ["$$PORT", "${NONE}", "${PORT:?must be set}", "${PORT:+x}", "$", "${", "${A:-${B}}"]
    environment: {PASSWORD: "${DB_PASSWORD}", N: 1}
`}, "a/compose.yaml")
	want := map[string]any{
		"image": "web:1.2 #3", "ports": []any{"8080:80", "90:90", "91:91", ":92", "8080:93"}, "privileged": true,
		"command":     []any{"$$PORT", "${NONE}", "${PORT:?must be set}", "${PORT:+x}", "$", "${", "${A:-${B}}"},
		"environment": map[string]any{"PASSWORD": "${DB_PASSWORD}", "N": int64(1)},
	}
	if diff := cmp.Diff(want, servicesOf(m.Root)["web"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each file includes the next one twice, and each service extends a great one.
func TestLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("k%d/compose.yaml", i)] = fmt.Sprintf("include: [../k%d/compose.yaml, "+
			"../k%[1]d/compose.yaml]\nservices: {s%d: {image: x}}\n", i+1, i)
	}
	if m := load(t, files, "k0/compose.yaml"); len(m.Gaps) == 0 {
		t.Error("no gap")
	}
	var b strings.Builder
	b.WriteString("services:\n  great:\n    image: x\n    environment:\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "      A%d: 1\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&b, "  s%d: {extends: great}\n", i)
	}
	if m := load(t, map[string]string{"compose.yaml": b.String()}, "compose.yaml"); len(m.Gaps) == 0 {
		t.Error("no gap")
	}
}

// FuzzLoad loads any file that is laid over, includes and extends others.
func FuzzLoad(f *testing.F) {
	f.Add("services: {a: {extends: b, ports: [1]}, b: {extends: {service: a}, ports: "+
		"{x: 1}}}\n", "services: {a: {image: x}}\n")
	f.Add("include: [x.yaml, {path: [compose.yaml, x.yaml]}]\nservices: {a: {build: {args: "+
		"[a=b]}}}\n", "services: {a: {build: ., environment: [A, B=c], extends: {file: compose.override.yaml, "+
		"service: a}}}\n")
	f.Add("services: {a: {ports: !reset [], volumes: !override [{target: /x}], networks: {n: "+
		"{}}}}\n", "services: {a: {image: \"${A:-b}\", ports: [1], volumes: [a:/x], networks: [n]}}\n")
	f.Fuzz(func(t *testing.T, over, base string) {
		trees, err := document.DecodeYAML([]byte(over))
		if err != nil {
			return
		}
		source := from(map[string]string{"compose.yaml": base, "x.yaml": base})
		for _, tree := range trees {
			m := Load("compose.override.yaml", tree, source)
			if m.Root == nil || m.Lines == nil {
				t.Fatal("nothing is left")
			}
		}
	})
}
