package ansible

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
)

// looked returns what is looked at of a tree, "PATH:LINE MODULE {arguments}" with "?" behind
// what is not known, and the gaps, "PATH:LINE CODE: MESSAGE".
func looked(t *testing.T, files map[string]string) (tasks, gaps []string) {
	t.Helper()
	tree := fstest.MapFS{}
	paths := slices.Sorted(maps.Keys(files))
	var docs []*document.Document
	for _, name := range paths {
		text := []byte(files[name])
		tree[name] = &fstest.MapFile{Data: text}
		if Match(name) {
			if d, err := Decode(name, text); err == nil && d != nil {
				docs = append(docs, d)
			}
			continue
		}
		trees, _ := document.DecodeYAML(text)
		for i, one := range trees {
			if slices.Contains(document.Detect(name, one.Root), document.Ansible) {
				docs = append(docs, &document.Document{Platform: document.Ansible, Format: document.YAML, Path: name,
					Index: i, Root: one.Root, Lines: one.Lines, Text: text})
			}
		}
	}
	before := fmt.Sprint(docs[0].Root)
	evaluated, rendered := Evaluate(tree, paths, docs)
	for _, r := range rendered {
		tasks = append(tasks, fmt.Sprintf("%s %s", r.Path, r.Text))
	}
	for _, d := range evaluated {
		items, _ := d.Root[document.Playbooks].([]any)
		for i, item := range items {
			task := item.(map[string]any)
			n := d.Lines.Fields[document.Playbooks].Items[i]
			for _, module := range []string{"m", "template"} {
				if args, ok := task[module].(map[string]any); ok {
					tasks = append(tasks, fmt.Sprintf("%s:%d %s", d.Path, n.Fields[module].Line,
						shown(args, n.Fields[module])))
				}
			}
		}
		for _, g := range d.Gaps {
			gaps = append(gaps, fmt.Sprintf("%s:%d %s: %s", g.Path, g.Line, g.Code, g.Message))
		}
	}
	if fmt.Sprint(docs[0].Root) != before {
		t.Error("a given document was changed")
	}
	return tasks, gaps
}

func shown(args map[string]any, n *document.Node) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		mark := ""
		if n.Fields[key].Unknown {
			mark = "?"
		}
		out = append(out, fmt.Sprintf("%s=%v%s", key, args[key], mark))
	}
	return strings.Join(out, " ")
}

func TestEvaluate(t *testing.T) {
	for _, c := range []struct {
		name        string
		files       map[string]string
		tasks, gaps []string
	}{
		{
			name: "variables of a play",
			files: map[string]string{
				"site.yml": "- hosts: web\n  vars: {a: 1, b: \"{{ a }}0\", loop: \"{{ loop }}\"}\n  vars_files: " +
					"[more.yml]\n  tasks:\n  - m: {x: \"{{ a }}\", y: \"{{ b }}\", z: \"{{ c.d[0] }}\", own: \"{{ " +
					"own }}\"}\n    vars: {own: mine}\n" +
					"  - m: {x: \"{{ nope }}\", y: \"{{ loop }}\", z: \"{{ nope | default('n') }}\", w: \"{{ nope | " +
					"default(omit) }}\", f: \"{{ ansible_os_family }}-x\"}\n" +
					"  - m: {x: \"{{ yes_ | bool }}\", y: \"{{ a | int }}\", z: \"{{ c.d | length }}\", j: \"{% if a " +
					"%}x{% endif %}\", db: \"{{ db_password }}\", enc: \"{{ enc }}\"}\n",
				"more.yml": "c: {d: [first]}\nyes_: 'yes'\ndb_password: hunter2\nenc: !vault x\n",
			},
			tasks: []string{
				"site.yml:5 own=mine x=1 y=10 z=first",
				"site.yml:7 f={{ ansible_os_family }}-x? w={{ nope | default(omit) }}? x={{ nope }}? y={{ loop }}? z=n",
				"site.yml:8 db={{ db_password }}? enc={{ enc }}? j={% if a %}x{% endif %}? x=true y=1 z={{ c.d | " +
					"length }}?",
			},
		}, {
			name: "what tasks set is not known, nor what comes from nowhere",
			files: map[string]string{
				"site.yml": "- hosts: all\n  vars: {a: 1, b: 2, e: 3}\n  vars_files: [gone.yml]\n  tasks:\n  - " +
					"set_fact: {a: 5}\n  - m: {x: \"{{ a }}\", y: \"{{ b }}\", z: \"{{ r | default('d') }}\", n: " +
					"\"{{ n | default('d') }}\"}\n    register: r\n",
			},
			tasks: []string{"site.yml:6 n={{ n | default('d') }}? x={{ a }}? y=2 z={{ r | default('d') }}?"},
			gaps: []string{"site.yml:3 unavailable: the variables of gone.yml are not known: it is not part of " +
				"the tree"},
		}, {
			name: "groups and hosts",
			files: map[string]string{
				"site.yml": "- hosts: web\n  tasks:\n  - m: {all: \"{{ v_all }}\", web: \"{{ v_web }}\", " +
					"other: \"{{ v_other }}\", host: \"{{ v_host }}\", ini: \"{{ v_ini }}\", same: \"{{ v_same }}\", " +
					"file: \"{{ v_file }}\"}\n- hosts: localhost\n  tasks:\n  - m: {other: \"{{ v_other }}\"}\n",
				"group_vars/all":     "v_all: 1\nv_web: 1\nv_other: 1\nv_host: 1\nv_ini: 1\nv_same: 1\n",
				"group_vars/web.yml": "v_web: 2\n", "group_vars/db/main.yml": "v_other: 2\nv_same: 1\n",
				"host_vars/one.yml":            "v_host: 2\n",
				"group_vars/all.yml":           "v_file: 1\n",
				"hosts":                        "[db]\none.example.com ansible_port=22\n[db:vars]\nv_ini=2\n",
				"elsewhere/group_vars/all.yml": "unrelated: 1\n",
			},
			tasks: []string{
				"site.yml:3 all=1 file=1 host={{ v_host }}? ini={{ v_ini }}? other={{ v_other }}? same=1 web=2",
				"site.yml:6 other=1",
			},
		}, {
			name: "roles with defaults, variables and parameters, for each use",
			files: map[string]string{
				"site.yml": "- hosts: web\n  vars: {c: play}\n  roles:\n  - app\n  - {role: " +
					"app, a: given}\n  - galaxy.thing\n- hosts: db\n  tasks:\n  - import_role: {name: app, " +
					"tasks_from: more}\n  - include_tasks: part.yml\n  handlers:\n  - m: {x: handler}\n",
				"roles/app/defaults/main.yml": "a: default\nb: default\nc: default\n",
				"roles/app/vars/main.yml":     "b: role\n",
				"roles/app/meta/main.yml":     "dependencies: [{role: base, d: dep}]\n",
				"roles/app/tasks/main.yml": "- name: one\n  m: {a: \"{{ a }}\", b: \"{{ b }}\", c: \"{{ c " +
					"}}\"}\n- import_tasks: sub/inner.yml\n",
				"roles/app/tasks/sub/inner.yml": "- block:\n  - m: {inner: \"{{ a }}\"}\n  vars: {a: block}\n",
				"roles/app/tasks/more.yml":      "- m: {more: \"{{ c }}\"}\n",
				"roles/app/handlers/main.yml":   "- name: h\n  m: {h: \"{{ b }}\"}\n",
				"roles/base/tasks/main.yml":     "- name: b\n  m: {d: \"{{ d }}\"}\n",
				"part.yml":                      "- name: p\n  m: {part: \"{{ c | default('none') }}\"}\n",
			},
			tasks: []string{
				"part.yml:2 part=none",
				"roles/app/handlers/main.yml:2 h=role",
				"roles/app/tasks/main.yml:2 a=default b=role c=play",
				"roles/app/tasks/main.yml:2 a=given b=role c=play",
				"roles/app/tasks/more.yml:1 more=default",
				"roles/app/tasks/sub/inner.yml:2 inner=block",
				"roles/base/tasks/main.yml:2 d=dep",
				"site.yml:12 x=handler",
			},
			gaps: []string{"site.yml:6 unavailable: the role galaxy.thing is not analyzed: it is not part of the " +
				"tree, and nothing is fetched"},
		}, {
			name: "loops, and names that are not known",
			files: map[string]string{
				"roles/r/tasks/main.yml": "- name: l\n  m: {x: \"{{ item }}\"}\n  loop: [a, \"{{ two " +
					"}}\"]\n- m: {x: \"{{ one.p }}\"}\n  with_items: \"{{ list }}\"\n  loop_control: {loop_var: " +
					"one}\n- m: {x: \"{{ item }}\"}\n  loop: \"{{ groups.all }}\"\n- include_vars: \"{{ " +
					"ansible_os_family }}.yml\"\n- m: {x: \"{{ pkg }}\", y: \"{{ same }}\"}\n- include_tasks: " +
					"\"setup-{{ ansible_os_family }}.yml\"\n- include_tasks: gone.yml\n- include_tasks: \"{{ x }}/{{ " +
					"y }}.yml\"\n- import_tasks: broken.yml\n",
				"roles/r/tasks/broken.yml":       "- name: x\n  m: [\n",
				"roles/r/tasks/setup-Debian.yml": "- m: {deb: 1}\n",
				"roles/r/vars/Debian.yml":        "pkg: a\nsame: 1\n", "roles/r/vars/RedHat.yml": "pkg: b\nsame: 1\n",
				"roles/r/defaults/main.yml": "two: b\nlist: [{p: 1}, {p: 2}]\nsame: 1\n",
			},
			tasks: []string{
				"roles/r/tasks/main.yml:2 x=a", "roles/r/tasks/main.yml:2 x=b", "roles/r/tasks/main.yml:4 x=1",
				"roles/r/tasks/main.yml:4 x=2",
				"roles/r/tasks/main.yml:7 x={{ item }}?", "roles/r/tasks/main.yml:10 x={{ pkg }}? y=1",
				"roles/r/tasks/setup-Debian.yml:1 deb=1",
			},
			gaps: []string{
				"roles/r/tasks/main.yml:12 unavailable: the tasks of gone.yml are not analyzed: it is not part of " +
					"the tree, and nothing is fetched",
				"roles/r/tasks/main.yml:13 unavailable: the tasks of {{ x }}/{{ y }}.yml are not analyzed: the name " +
					"is not known",
				"roles/r/tasks/broken.yml:2 malformed: it cannot be read: not valid YAML: did not find expected node " +
					"content",
			},
		}, {
			name: "templates",
			files: map[string]string{
				"roles/r/tasks/main.yml": "- name: x\n  template: {src: app.yml.j2, dest: /x}\n- template: {src: " +
					"app.conf.j2, dest: /x}\n- template: {src: \"{{ item }}\", dest: /x}\n  loop: [gone.yml.j2, " +
					"Dockerfile.j2]\n" +
					"- template: src=flow.yml.j2 dest=/x\n- template: {src: plain.yml.j2, dest: /x}\n",
				"roles/r/defaults/main.yml": "image: web\ndb_password: x\n",
				"roles/r/templates/app.yml.j2": "services:\n  web:\n    image: {{ image }}:{{ tag }}\n    x: {{ " +
					"db_password }}\n", "roles/r/templates/app.conf.j2": "services: {{ image }}",
				"roles/r/templates/flow.yml.j2":   "services:\n{% for x in y %}\n",
				"roles/r/templates/plain.yml.j2":  "a: {{ image }}\n",
				"roles/r/templates/Dockerfile.j2": "FROM {{ image }}\n",
			},
			tasks: []string{
				"roles/r/templates/app.yml.j2 services:\n  web:\n    image: web:unknown-when-deployed\n    x: " +
					"unknown-when-deployed\n", "roles/r/templates/Dockerfile.j2 FROM web\n",
				"roles/r/tasks/main.yml:2 dest=/x src=app.yml.j2", "roles/r/tasks/main.yml:3 dest=/x src=app.conf.j2",
				"roles/r/tasks/main.yml:4 dest=/x src=gone.yml.j2",
				"roles/r/tasks/main.yml:4 dest=/x src=Dockerfile.j2", "roles/r/tasks/main.yml:7 dest=/x " +
					"src=plain.yml.j2",
			},
			gaps: []string{
				"roles/r/tasks/main.yml:4 unavailable: the template gone.yml.j2 is not analyzed: it is not part of " +
					"the tree",
				"roles/r/templates/flow.yml.j2:2 unavailable: the template is not analyzed: it has statements, " +
					"which are not followed",
			},
		}, {
			name: "files that name themselves",
			files: map[string]string{
				"site.yml": "- hosts: all\n  roles: [a]\n",
				"roles/a/tasks/main.yml": "- name: x\n  m: {x: 1}\n- include_role: {name: a}\n- import_tasks: " +
					"main.yml\n",
			},
			tasks: []string{"roles/a/tasks/main.yml:2 x=1"},
			gaps: []string{
				"roles/a/tasks/main.yml:3 too-complex: roles are inside each other too deeply, or in a circle",
				"roles/a/tasks/main.yml:0 too-complex: roles and files of tasks are used too often, or in a circle: " +
					"roles/a/tasks/main.yml is not followed",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tasks, gaps := looked(t, c.files)
			if diff := cmp.Diff(c.tasks, tasks); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.gaps, gaps); diff != "" {
				t.Errorf("gaps (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzEvaluate(f *testing.F) {
	f.Add("- hosts: all\n  vars: {a: \"{{ b['c'][0] | default('x', true) | int }}\", b: \"{{ a }}\"}\n  roles: [r]\n "+
		" tasks:\n  - m: {x: \"{{ a }}\"}\n    loop: [\"{{ item }}\"]\n", "- name: x\n  include_tasks: main.yml\n  "+
		"vars: {a: !vault b}\n")
	f.Add("- hosts: all\n  vars_files: [[a, b], \"{{ x }}\"]\n  tasks:\n  - block: [[{m: 1}]]\n", "- include_vars: "+
		"{dir: x}\n  when: a\n")
	f.Fuzz(func(t *testing.T, play, role string) {
		tree := fstest.MapFS{"site.yml": {Data: []byte(play)}, "roles/r/tasks/main.yml": {Data: []byte(role)},
			"roles/r/defaults/main.yml": {Data: []byte(role)}}
		var docs []*document.Document
		for name, text := range map[string]string{"site.yml": play, "roles/r/tasks/main.yml": role} {
			trees, err := document.DecodeYAML([]byte(text))
			if err != nil {
				return
			}
			for _, one := range trees {
				docs = append(docs, &document.Document{Platform: document.Ansible, Path: name, Root: one.Root,
					Lines: one.Lines})
			}
		}
		files := map[string]bool{}
		for _, d := range docs {
			files[d.Path] = true
		}
		evaluated, _ := Evaluate(tree, []string{"site.yml", "roles/r/tasks/main.yml"}, docs)
		for _, d := range evaluated {
			delete(files, d.Path)
		}
		if len(files) > 0 {
			t.Fatalf("%v are lost", files)
		}
	})
}
