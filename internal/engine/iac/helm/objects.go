package helm

import (
	"encoding/base64"
	"path"
	"slices"
	"strings"
)

// This file holds the objects whose methods templates call.

// The cluster that charts are rendered for: a recent one that has all that is
// usual. Helm's default is as arbitrary.
const kubeVersion = "v1.34.0"

// A version is that of a cluster or of Helm, as templates see it.
type version struct{ Version, Major, Minor, GitVersion string }

// String is what {{ .Capabilities.KubeVersion }} prints.
func (v version) String() string { return v.Version }

// apiVersions are those that the cluster has.
type apiVersions []string

// Has reports whether the cluster knows the version ("apps/v1") or kind
// ("apps/v1/Deployment").
func (a apiVersions) Has(name string) bool {
	if slices.Contains(a, name) {
		return true
	}
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return slices.Contains(a, name[:i])
	}
	return false
}

// capabilities are what templates learn of the cluster: one that is current, with all kinds of its
// own.
var capabilities = struct {
	KubeVersion version
	APIVersions apiVersions
	HelmVersion version
}{
	KubeVersion: version{kubeVersion, "1", "34", kubeVersion},
	HelmVersion: version{"v3.18.0", "3", "18", ""},
	APIVersions: apiVersions{
		"v1", "apps/v1", "batch/v1", "autoscaling/v1", "autoscaling/v2", "networking.k8s.io/v1", "policy/v1",
		"rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "admissionregistration.k8s.io/v1",
		"apiextensions.k8s.io/v1",
		"apiregistration.k8s.io/v1", "authentication.k8s.io/v1", "authorization.k8s.io/v1", "certificates.k8s.io/v1",
		"coordination.k8s.io/v1", "discovery.k8s.io/v1", "events.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1",
		"node.k8s.io/v1", "scheduling.k8s.io/v1",
	},
}

// otherFiles returns ".Files": what is not a template and not special.
func (c *Chart) otherFiles() files {
	out := files{}
	for _, f := range c.files {
		if !strings.HasPrefix(f.name, "templates/") {
			out[f.name] = f.data
		}
	}
	return out
}

// files are the other files of a chart, by name.
// See https://helm.sh/docs/chart_template_guide/accessing_files/.
type files map[string][]byte

// Get returns the text of a file, "" when there is none.
func (f files) Get(name string) string { return string(f[name]) }

// GetBytes returns the content of a file.
func (f files) GetBytes(name string) []byte { return f[name] }

// Lines returns the lines of a file.
func (f files) Lines(name string) []string {
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

// Glob returns the files that match a pattern; "**" stands for any folders.
func (f files) Glob(pattern string) files {
	out := files{}
	for name, data := range f {
		if matchFolders(strings.Split(pattern, "/"), strings.Split(name, "/")) {
			out[name] = data
		}
	}
	return out
}

// matchFolders compares folder by folder. A pattern has few of them.
func matchFolders(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		rest := slices.Compact(slices.Clone(pattern))[1:]
		for i := range len(name) + 1 {
			if matchFolders(rest, name[i:]) {
				return true
			}
		}
		return len(rest) == 0
	}
	if len(name) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], name[0])
	return err == nil && ok && matchFolders(pattern[1:], name[1:])
}

// AsConfig returns YAML with the base names of files and their text.
func (f files) AsConfig() string {
	m := map[string]string{}
	for name, data := range f {
		m[path.Base(name)] = string(data)
	}
	return toYAML(m)
}

// AsSecrets returns YAML with the base names of files and their content in base64.
func (f files) AsSecrets() string {
	m := map[string]string{}
	for name, data := range f {
		m[path.Base(name)] = base64.StdEncoding.EncodeToString(data)
	}
	return toYAML(m)
}
