// Package imageref finds the container images that a tree names: base images of
// Dockerfiles, and the images that compose files, manifests of Kubernetes, and charts of Helm
// run. Nothing is pulled; an image is known by its reference.
package imageref

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// A Reference is an image where a file names it.
type Reference struct {
	Name   string // "redis", "grafana/grafana", "ghcr.io/owner/app": as people write it, without the default registry
	Tag    string // "7.2-alpine"; may be empty
	Digest string // "sha256:…"; may be empty
	Line   int
}

// A Kind is the kind of file that names images.
type Kind string

// The kinds of files.
const (
	Dockerfile Kind = "dockerfile"
	Compose    Kind = "compose"
	Kubernetes Kind = "kubernetes"
	HelmValues Kind = "helm"
)

// KindOf returns the kind that the name of a file suggests, or "". A file of Kubernetes is
// only told by its content, so every other file of YAML may be one.
func KindOf(file string) Kind {
	base := strings.ToLower(path.Base(file))
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch {
	case base == "dockerfile", base == "containerfile", strings.HasPrefix(base, "dockerfile."),
		strings.HasPrefix(base, "dockerfile-"), strings.HasPrefix(base, "containerfile."), ext == ".dockerfile":
		return Dockerfile
	case ext != ".yml" && ext != ".yaml":
		return ""
	case strings.HasPrefix(stem, "docker-compose"), stem == "compose", strings.HasPrefix(stem, "compose."),
		strings.HasPrefix(stem, "compose-"), strings.HasSuffix(stem, ".compose"), strings.HasSuffix(stem, "-compose"):
		return Compose
	case strings.HasPrefix(stem, "values") || strings.HasSuffix(stem, "-values") || strings.HasSuffix(stem, ".values"):
		return HelmValues
	}
	return Kubernetes
}

// Read returns the images that a file names, in the order of their lines. What is computed, or
// cannot be read, names none: other analyses report malformed files.
func Read(kind Kind, content []byte) []Reference {
	var out []Reference
	switch kind {
	case Dockerfile:
		out = readDockerfile(string(content))
	case Compose, Kubernetes, HelmValues:
		out = readYAML(kind, content)
	}
	slices.SortStableFunc(out, func(a, b Reference) int { return a.Line - b.Line })
	return out
}

// reference matches an image reference: the name of a repository, with a registry or without, a
// tag and a digest (https://github.com/distribution/reference).
var reference = lazyregexp.New(`^([a-zA-Z0-9][a-zA-Z0-9._-]*(?::[0-9]+)?(?:/[a-z0-9][a-z0-9._-]*)*)` +
	`(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`)

// Parse reads a reference; false for what is none or is computed.
func Parse(text string) (Reference, bool) {
	text = strings.TrimSpace(text)
	m := reference.FindStringSubmatch(text)
	if m == nil || len(text) > 400 {
		return Reference{}, false
	}
	r := Reference{Name: m[1], Tag: m[2], Digest: m[3]}
	// Every spelling of an image of the default registry is the short one.
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/"} {
		r.Name = strings.TrimPrefix(r.Name, prefix)
	}
	return r, r.Name != "" && r.Name == strings.ToLower(r.Name) && r.Name != "scratch"
}

// Version returns the version that a tag begins with, and what follows it: "3.12.4" and
// "slim-bookworm" of "v3.12.4-slim-bookworm". It is empty for tags without one ("latest").
func Version(tag string) (version, variant string) {
	m := tagVersion.FindStringSubmatch(tag)
	if m == nil {
		return "", tag
	}
	return m[1], m[2]
}

// tagVersion matches a tag that begins with a version. Dates and long numbers are builds.
var tagVersion = lazyregexp.New(`^v?((?:0|[1-9][0-9]{0,3})(?:\.(?:0|[1-9][0-9]{0,4})){0,3})(?:-(.+))?$`)
