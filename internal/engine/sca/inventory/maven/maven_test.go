package maven

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ask returns what a pom asks for, as lines, and what stands outside.
func ask(t *testing.T, files map[string]string, file string) (string, []string) {
	t.Helper()
	p := New(slices.Collect(maps.Keys(files)), func(name string) []byte { return []byte(files[name]) })
	asks, outside, err := p.Requirements(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range asks {
		line := r.Name + "@" + r.Version
		if r.Dev {
			line += "!"
		}
		out = append(out, line)
	}
	return strings.Join(out, " "), outside
}

// dep writes a dependency.
func dep(id, version, rest string) string {
	group, artifact, _ := strings.Cut(id, ":")
	if version != "" {
		version = "<version>" + version + "</version>"
	}
	return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId>" + version + rest +
		"</dependency>"
}

const root = `<project><groupId>g</groupId><artifactId>root</artifactId><version>1</version><packaging>pom</packaging>
<properties><a.version>1.0</a.version><over>old</over><nested>${a.version}.1</nested></properties>
<dependencyManagement><dependencies>`

func TestRequirements(t *testing.T) {
	files := map[string]string{
		"pom.xml": root + dep("m:a", "${a.version}", "") + dep("m:over", "${over}", "") +
			dep("m:nested", "${nested}", "") +
			dep("g:bom", "1", "<type>pom</type><scope>import</scope>") +
			dep("out:bom", "9", "<type>pom</type><scope>import</scope>") +
			`</dependencies></dependencyManagement></project>`,
		"bom/pom.xml": `<project><parent><groupId>g</groupId><artifactId>root</artifactId><version>1</version></parent><artifactId>bom</artifactId>
<dependencyManagement><dependencies>` + dep("b:x", "3.0", "") + dep("m:a", "0.1", "") + `</dependencies></dependencyManagement></project>`,
		"app/pom.xml": `<project><parent><groupId>g</groupId><artifactId>root</artifactId><version>1</version></parent><artifactId>app</artifactId>
<properties><over>new7</over></properties>
<dependencies>` + dep("m:a", "", "") + dep("m:over", "", "") + dep("m:nested", "", "<scope>test</scope>") + dep("b:x", "", "") + dep("u:unknown", "", "") +
			dep("p:p", "${project.version}", "") + dep("r:r", "[1.0,2.0)", "") + dep("e:e", "[1.5]", "") +
			dep("x:x", "${nowhere}", "") + dep("g:bom", "1", "") + dep("l:l", "LATEST", "") +
			`</dependencies>
<profiles><profile><activation><activeByDefault>true</activeByDefault></activation><dependencies>` + dep("d:d", "1.0", "") + `</dependencies></profile>
<profile><id>other</id><dependencies>` + dep("n:n", "1.0", "") + `</dependencies></profile></profiles></project>`,
	}
	got, outside := ask(t, files, "app/pom.xml")
	if want := "m:a@1.0 m:over@new7 m:nested@1.0.1! b:x@3.0 u:unknown@ p:p@1 r:r@ e:e@1.5 x:x@ l:l@ " +
		"d:d@1.0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if want := []string{"the list out:bom 9"}; !slices.Equal(outside, want) {
		t.Errorf("outside: got %v, want %v", outside, want)
	}
}

func TestParents(t *testing.T) {
	child := func(parent, relative string) string {
		return `<project><parent><groupId>g</groupId><artifactId>` + parent + `</artifactId><version>1</version>` +
			relative + `</parent><artifactId>c</artifactId><dependencies>` + dep("m:a", "", "") +
			`</dependencies></project>`
	}
	parent := strings.Replace(root, "root", "up", 1) + dep("m:a", "5", "") +
		"</dependencies></dependencyManagement></project>"
	for _, test := range []struct {
		name    string
		files   map[string]string
		want    string
		outside string
	}{
		{"by path", map[string]string{"c/pom.xml": child("up", "<relativePath>../x/y.xml</relativePath>"),
			"x/y.xml": parent}, "m:a@5", ""},
		{"by folder", map[string]string{"c/pom.xml": child("up", "<relativePath>../x</relativePath>"),
			"x/pom.xml": parent}, "m:a@5", ""},
		{"by name", map[string]string{"c/pom.xml": child("up", "<relativePath/>"), "elsewhere/pom.xml": parent},
			"m:a@5", ""},
		{"of a repository", map[string]string{"c/pom.xml": child("up", "<relativePath/>"),
			"repo/g/up/1/up-1.pom": parent,
			"repo/m/a/5/a-5.pom":   "<project><groupId>m</groupId><artifactId>a</artifactId><version>5</version></project>"}, "m:a@5", ""},
		{"another one lies there", map[string]string{"c/pom.xml": child("up", ""),
			"pom.xml": strings.Replace(parent, "up", "different", 1)}, "m:a@", "the parent g:up 1"},
		{"its own parent", map[string]string{"c/pom.xml": child("c", "<relativePath>pom.xml</relativePath>")}, "m:a@",
			"the parent g:c 1"},
		{"a circle", map[string]string{
			"c/pom.xml": child("d", "<relativePath>../d/pom.xml</relativePath>"),
			"d/pom.xml": `<project><parent><groupId>g</groupId><artifactId>c</artifactId><version>1</version><relativePath>../c/pom.xml</relativePath></parent><artifactId>d</artifactId></project>`,
		}, "m:a@", ""},
	} {
		got, outside := ask(t, test.files, "c/pom.xml")
		if got != test.want || strings.Join(outside, ", ") != test.outside {
			t.Errorf("%s: got %s and %v, want %s and %s", test.name, got, outside, test.want, test.outside)
		}
	}
}

// FuzzRequirements gives hostile files to the resolver: a project, its parent and a
// list that it may import.
func FuzzRequirements(f *testing.F) {
	f.Add(root+dep("g:root", "1", "<type>pom</type><scope>import</scope>")+
		"</dependencies></dependencyManagement></project>",
		`<project><parent><groupId>g</groupId><artifactId>root</artifactId><version>1</version></parent><artifactId>x</artifactId><properties><a>${b}</a><b>${a}${a}</b></properties><dependencies>`+dep("a:b", "${a}", "")+`</dependencies></project>`)
	f.Fuzz(func(t *testing.T, parent, child string) {
		files := map[string]string{"pom.xml": parent, "x/pom.xml": child}
		p := New([]string{"pom.xml", "x/pom.xml"}, func(name string) []byte { return []byte(files[name]) })
		for file, text := range files {
			asks, _, err := p.Requirements(file)
			if err != nil {
				continue
			}
			for _, r := range asks {
				if r.Line < 1 || r.Line > 1+strings.Count(text, "\n") || strings.Contains(r.Version, "$") {
					t.Errorf("got %+v", r)
				}
			}
		}
	})
}
