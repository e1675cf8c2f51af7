package ansible

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/errs"
)

func TestInventory(t *testing.T) {
	d, err := Decode("hosts.ini", []byte(`# a comment
alone.example.com
[tower]
150.50.1.1 ansible_port=22 ansible_become=true ansible_user="root" # why not
[all_web:children]
tower
all_web
[tower:vars]
ansible_connection=ssh
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"all": map[string]any{"children": map[string]any{
		"ungrouped": map[string]any{"hosts": map[string]any{"alone.example.com": map[string]any{}}},
	}}}
	// A group that is its own child has no place from the top.
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("a group in itself (-want +got):\n%s", diff)
	}
	d, err = Decode("hosts", []byte("[tower]\n150.50.1.1 ansible_port=22 ansible_become=true ansible_user=\"root\" # "+
		"x\n[web:children]\ntower\n[tower:vars]\nk=v\n"))
	if err != nil {
		t.Fatal(err)
	}
	tower := map[string]any{
		"hosts": map[string]any{"150.50.1.1": map[string]any{"ansible_port": 22.0, "ansible_become": true,
			"ansible_user": "root"}},
		"vars": map[string]any{"k": "v"},
	}
	want = map[string]any{"all": map[string]any{"children": map[string]any{"web": map[string]any{"children": map[string]any{"tower": tower}}}}}
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
	n, steps := d.Lines.Find("all", "children", "web", "children", "tower", "hosts", "150.50.1.1", "ansible_port")
	if n.Line != 2 || steps != 8 {
		t.Errorf("the port is at line %d after %d steps", n.Line, steps)
	}
}

func TestConfiguration(t *testing.T) {
	d, err := Decode("ansible.cfg", []byte("[defaults]\nForks = 10 ; many\nallow_unsafe_lookups = True\n; no\nlist = "+
		"a, b\nempty = []\nname = x\n[galaxy]\nserver=https://x\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"groups": map[string]any{
		"defaults": map[string]any{"forks": 10.0, "allow_unsafe_lookups": true, "list": []any{"a", "b"},
			"empty": []any{}, "name": "x"},
		"galaxy": map[string]any{"server": "https://x"},
	}}
	if diff := cmp.Diff(want, d.Root); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if n, _ := d.Lines.Find("groups", "defaults", "allow_unsafe_lookups"); n.Line != 3 {
		t.Errorf("at line %d, want 3", n.Line)
	}
}

func TestWhatItIs(t *testing.T) {
	for text, want := range map[string]bool{
		"[web]\nweb1.example.com\n":  true,
		"[web:vars]\na=b\n":          true,
		"h ansible_host=1.2.3.4\n":   true,
		"[mysqld]\nport = 3306\n":    false,
		"[php]\nmemory=1.5M\n":       false,
		"127.0.0.1 localhost\n":      false,
		"[a]\nkey=value.with.dots\n": false,
		"":                           false,
	} {
		d, err := Decode("x.ini", []byte(text))
		if err != nil || (d != nil) != want {
			t.Errorf("%q: document %v, error %v, want an inventory: %v", text, d, err, want)
		}
	}
	for name, want := range map[string]bool{"a/hosts": true, "x.ini": true, "ansible.cfg": true,
		"my-ansible.conf": true, "nginx.conf": false, "setup.cfg": false, "x.yaml": false} {
		if Match(name) != want {
			t.Errorf("Match(%q) = %v", name, !want)
		}
	}
	if _, err := Decode("hosts", []byte(strings.Repeat("#", MaxSize+1))); errs.KindOf(err) != errs.TooLarge {
		t.Errorf("error %v, want too large", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("hosts", "[a:children]\nb\n[b:children]\na\n[a]\nx ansible_host=1\n")
	f.Add("a.cfg", "[defaults]\na = b, c\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		d, err := Decode(name, []byte(text))
		if err == nil && d != nil && (d.Root == nil || d.Lines == nil || d.Platform != document.Ansible) {
			t.Fatalf("document %v", d)
		}
	})
}
