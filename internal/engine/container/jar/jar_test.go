package jar

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pack makes an archive of files: name, content, name, content.
func pack(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for pair := range slices.Chunk(files, 2) {
		w, err := z.Create(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pair[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t *testing.T, name, archive string, maxOpened int64) ([]string, error) {
	t.Helper()
	found, err := Read(t.Context(), name, strings.NewReader(archive), int64(len(archive)), maxOpened)
	var out []string
	for _, p := range found {
		out = append(out, p.Name+" "+p.Version)
	}
	return out, err
}

const (
	properties = "META-INF/maven/g/a/pom.properties"
	manifest   = "META-INF/MANIFEST.MF"
)

func TestRead(t *testing.T) {
	inner := pack(t, properties, "groupId=g\nartifactId=inner\nversion=1\n")
	tests := map[string]struct {
		name  string
		files []string
		want  []string
	}{
		"what Maven wrote": {"x-9.jar", []string{properties, "#Created by Maven\r\ngroupId = g\r\nartifactId=a\r\nversion=1.2\r\n",
			manifest, "Implementation-Version: 3\n"}, []string{"g:a 1.2"}},
		"shaded":                         {"all.jar", []string{properties, "groupId=g\nartifactId=a\nversion=1", "META-INF/maven/h/b/pom.properties", "groupId=h\nartifactId=b\nversion=2"}, []string{"g:a 1", "h:b 2"}},
		"incomplete properties":          {"x-9.jar", []string{properties, "groupId=g\nversion=1\n"}, []string{"x:x 9"}},
		"name of an old package":         {"lib/junit-4.12.jar", []string{"A.class", "0123456789"}, []string{"junit:junit 4.12"}},
		"name with the group":            {"org.apache.felix.framework-1.2.3.jar", []string{"A.class", ""}, []string{"org.apache.felix:org.apache.felix.framework 1.2.3"}},
		"name and group of the manifest": {"core-2.jar", []string{manifest, "Bundle-SymbolicName: Com.Example;singleton:=true\nName: core\nBundle-Version: 1\n"}, []string{"com.example:core 2"}},
		"manifest alone": {"app.war", []string{manifest, "Implementation-Title: org.elasticsearch#server;8.14.3\n\nName: server\n\n" +
			"Implementation-Version: 8.14.3 of April\n"}, []string{"org.elasticsearch:server 8.14.3"}},
		"bundle plugin":      {"x.jar", []string{manifest, "Created-By: Apache Maven Bundle Plugin\nBundle-SymbolicName: com.ex.lib\nBundle-Version: 1\n"}, []string{"com.ex.lib:lib 1"}},
		"placeholder":        {"x.jar", []string{manifest, "Bundle-Name: %name\nExtension-Name: e\nPlugin-Version: 1\n"}, []string{"e:e 1"}},
		"in a web archive":   {"app.war", []string{"WEB-INF/lib/inner.jar", inner, "WEB-INF/lib/old-1.jar", pack(t, "A.class", "0123456789")}, []string{"g:inner 1", "old:old 1"}},
		"nothing to go by":   {"x.jar", []string{"A.class", "0123456789"}, nil},
		"other file formats": {"x.jar", []string{"inner.zip", inner}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, test.name, pack(t, test.files...), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("packages (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadKeepsTheRest breaks one part of an archive.
func TestReadKeepsTheRest(t *testing.T) {
	good := pack(t, properties, "groupId=g\nartifactId=a\nversion=1\n")
	deep := good
	for range maxDepth {
		deep = pack(t, "inner.jar", deep)
	}
	for name, test := range map[string]struct{ file, content, err string }{
		"no archive":         {"bad.jar", strings.Repeat("x", 100), "bad.jar: zip: not a valid zip file"},
		"malformed manifest": {manifest, "no colon\n", "missing colon"},
		"too deep":           {"deep.jar", deep, "more than 8 archives within each other"},
		"too large":          {"large.jar", pack(t, "A.class", strings.Repeat("x", 100)) + strings.Repeat(" ", 1<<20), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t, "app.war", pack(t, "good.jar", good, test.file, test.content), 1<<20)
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff([]string{"g:a 1"}, got); diff != "" {
				t.Errorf("packages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadStops(t *testing.T) {
	archive := pack(t, properties, "groupId=g\nartifactId=a\nversion=1\n")
	if _, err := read(t, "a.jar", archive, int64(len(archive))-1); err == nil {
		t.Error("an archive above the limit was read")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ended, "a.jar", strings.NewReader(archive), int64(len(archive)), 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the scan: %v", err)
	}
}

func TestParseFileName(t *testing.T) {
	for name, want := range map[string]coordinates{
		"guava-31.1-jre.jar":       {"guava", "guava", "31.1-jre"},
		"a-b-c-1.jar":              {"a-b-c", "a-b-c", "1"},
		"lib/servlet_2.4.jar":      {"servlet", "servlet", "2.4"},
		"x.3.jar":                  {"x", "x", "3"},
		"x-rc1.jar":                {"x", "x", "rc1"},
		"x-build12.war":            {"x", "x", "build12"},
		"x-rc1x.jar":               {},
		"noversion.jar":            {},
		"Org.Apache.Thing-1.0.jar": {"org.apache", "Org.Apache.Thing", "1.0"},
	} {
		if got, ok := parseFileName(name); got != want || ok != (want != coordinates{}) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, ok, want)
		}
	}
}

func TestIsArchive(t *testing.T) {
	for name, want := range map[string]bool{"a.jar": true, "A.WAR": true, "b/c.hpi": true, "jar": false, "a.zip": false,
		"a.jar.txt": false} {
		if got := IsArchive(name); got != want {
			t.Errorf("IsArchive(%q) = %v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(pack(f, properties, "groupId=g\nartifactId=a\nversion=1\n", manifest, "Bundle-Name: a\n")))
	f.Add([]byte(pack(f, "lib/x-1.jar", pack(f, manifest, "Name: a\n b\n"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, _ := Read(t.Context(), "a-1.jar", bytes.NewReader(b), int64(len(b)), 1<<20)
		for _, p := range found {
			if !strings.Contains(p.Name, ":") || p.Version == "" {
				t.Errorf("package %+v", p)
			}
		}
	})
}
