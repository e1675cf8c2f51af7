package gradle

import (
	"path"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/sca/inventory/manifest"
)

// build is a tree of files.
func build(files map[string]string) *Build {
	return &Build{
		Read: func(name string) []byte {
			if text, ok := files[name]; ok {
				return []byte(text)
			}
			return nil
		},
		Names: func(folder string) []string {
			var out []string
			for name := range files {
				if path.Dir(name) == folder {
					out = append(out, path.Base(name))
				}
			}
			slices.Sort(out)
			return out
		},
	}
}

func lines(list []manifest.Requirement) string {
	var out []string
	for _, r := range list {
		line := r.Name + "@" + r.Version
		if r.Dev {
			line += "!"
		}
		out = append(out, line)
	}
	return strings.Join(out, " ")
}

func TestRequirements(t *testing.T) {
	for _, test := range []struct {
		name, file string
		files      map[string]string
		want       string
	}{
		{"Groovy", "build.gradle", map[string]string{"build.gradle": `plugins { id 'org.springframework.boot' version '3.0.0' }
// implementation 'org.x:comment:1.0'
dependencies {
  implementation 'org.a:b:1.0' /* 'org.x:other:1.0' */
  implementation("org.c:d:$v")
  api platform('org.e:bom:2.0')
  runtimeOnly 'org.f:g'
  implementation project(':core')
  testImplementation group: 'junit', name: 'junit', version: '4.12'
  implementation 'org.h:i:1.+'
  implementation('org.j:k:1.0:classifier@jar') {
    exclude group: 'org.x', module: 'excluded'
  }
}
`}, "org.a:b@1.0 org.c:d@ org.e:bom@2.0 org.f:g@ junit:junit@4.12! org.h:i@ org.j:k@1.0"},
		{"variables", "app/build.gradle", map[string]string{
			"gradle.properties": "jacksonVersion=2.15.0\n# x\n",
			"build.gradle": "ext {\n  slf4j = '1.7.36'\n  versions = [guava: '31.0', 'okio': " +
				"'3.0']\n}\next.nettyVersion = \"4.1.0\"\nset('h2', '2.0')\n",
			"gradle/deps.gradle": "def kafka = '3.0.0'\n",
			"app/build.gradle": "def own = '1.1'\ndependencies {\n implementation " +
				"\"a:jackson:${jacksonVersion}\"\n implementation \"a:slf4j:$slf4j\"\n implementation " +
				"\"a:guava:${versions.guava}\"\n implementation \"a:netty:${rootProject.ext.nettyVersion}\"\n " +
				"implementation \"a:own:$own\"\n implementation 'a:kafka:' + kafka\n implementation " +
				"\"a:h2:${property('h2')}\"\n implementation \"a:none:$unknown\"\n}\n",
			"other/settings.gradle": "x = 'y'\n",
		}, "a:jackson@2.15.0 a:slf4j@1.7.36 a:guava@31.0 a:netty@4.1.0 a:own@1.1 a:kafka@3.0.0 a:h2@2.0 a:none@"},
		{"Kotlin and a catalog", "app/build.gradle.kts", map[string]string{
			"gradle/libs.versions.toml": "[versions]\nspring = \"6.0.0\"\nrich = { strictly = \"[1.0,2.0)\", prefer " +
				"= \"1.5\" }\n[libraries]\nspring-core = { module = \"org.springframework:spring-core\", version.ref " +
				"= \"spring\" }\nspring-web = { group = \"org.springframework\", name = \"spring-web\", version.ref " +
				"= \"spring\" }\nplain = \"org.p:plain:1.2\"\nbare = { module = \"org.b:bare\" }\nrich-one = { " +
				"module = \"org.r:rich\", version.ref = \"rich\" }\n[bundles]\nweb = [\"spring-core\", " +
				"\"spring-web\"]\n",
			"app/build.gradle.kts": "val own by extra(\"1.9\")\nval x = \"2.9\"\ndependencies {\n    " +
				"implementation(libs.bundles.web)\n    testImplementation(libs.plain)\n    " +
				"implementation(libs.bare)\n    implementation(libs.rich.one)\n    " +
				"implementation(kotlin(\"stdlib\"))\n    implementation(\"org.o:own:$own\")\n    " +
				"api(\"org.x:x:$x\")\n    implementation(\"org.v:v:${libs.versions.spring.get()}\")\n    " +
				"implementation(projects.core)\n}\n",
		}, "org.springframework:spring-core@6.0.0 org.springframework:spring-web@6.0.0 org.p:plain@1.2! org.b:bare@ " +
			"org.r:rich@ org.jetbrains.kotlin:kotlin-stdlib@ org.o:own@1.9 org.x:x@2.9 org.v:v@6.0.0"},
		{"asked for twice", "build.gradle", map[string]string{"build.gradle": "dependencies {\n testImplementation " +
			"'a:b:1.0'\n implementation 'a:b:1.0'\n}\n"}, "a:b@1.0"},
		{"nothing", "build.gradle", map[string]string{"build.gradle": "plugins { }\n"}, ""},
	} {
		if got := lines(build(test.files).Requirements(test.file)); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestLines(t *testing.T) {
	b := build(map[string]string{"build.gradle": "x\n\ndependencies {\n\n  implementation 'a:b:1.0'\n  " +
		"implementation(\n    'c:d:2.0'\n  )\n}\n"})
	got := b.Requirements("build.gradle")
	if len(got) != 2 || got[0].Line != 5 || got[1].Line != 6 {
		t.Errorf("got %+v", got)
	}
}

func TestReads(t *testing.T) {
	for file, want := range map[string]bool{"build.gradle": true, "a/build.gradle.kts": true, "settings.gradle": false,
		"gradle/deps.gradle": true, "gradle/settings.gradle": false, "x.gradle": false} {
		if Reads(file) != want {
			t.Errorf("%s: got %t", file, !want)
		}
	}
}

// FuzzRequirements gives hostile builds to the reader.
func FuzzRequirements(f *testing.F) {
	f.Add("dependencies { implementation 'a:b:$c' }", "c = 'd'", "[libraries]\na = \"b:c:d\"\n")
	f.Add("dependencies {\n implementation(\"a:b:${${x}}\"\n", "x=$x\ny=${y}", "[bundles]\na = [\"a\"]\n")
	f.Fuzz(func(t *testing.T, text, properties, catalog string) {
		b := build(map[string]string{"build.gradle": text, "gradle.properties": properties,
			"gradle/libs.versions.toml": catalog})
		for _, r := range b.Requirements("build.gradle") {
			if r.Line < 1 || r.Line > 1+strings.Count(text, "\n") || strings.Contains(r.Version, "$") {
				t.Errorf("got %+v", r)
			}
		}
	})
}
