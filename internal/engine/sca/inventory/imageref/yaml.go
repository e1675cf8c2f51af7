package imageref

import (
	"bytes"

	"merlon/internal/document"
)

// This file reads the images that compose files, manifests and values of charts name.

// limits bound a file; larger ones are output of programs.
var limits = document.Limits{Size: 4 << 20, Depth: 60, Values: 200_000}

// readYAML returns the images of the documents of a file.
func readYAML(kind Kind, content []byte) []Reference {
	// Most files of YAML name no image: this spares the parser. Templates are none of YAML.
	if !bytes.Contains(content, []byte("image")) || bytes.Contains(content, []byte("{{")) && kind != Compose {
		return nil
	}
	docs, err := document.ParseAll(content, limits)
	if err != nil {
		return nil
	}
	var out []Reference
	for _, doc := range docs {
		switch kind {
		case Compose:
			for _, service := range doc.Get("services").Members() {
				out = addText(out, service.Get("image"))
			}
		case HelmValues:
			out = append(out, valuesImages(doc)...)
		case Kubernetes:
			if doc.Get("apiVersion").Text() != "" && doc.Get("kind").Text() != "" {
				out = append(out, podImages(doc)...)
			}
		}
	}
	return out
}

// addText adds the image that a scalar names. A variable with a default names the default.
func addText(out []Reference, n *document.Node) []Reference {
	if !n.IsScalar() {
		return out
	}
	if r, ok := Parse(expand(n.Text(), nil)); ok {
		r.Line = n.Line
		out = append(out, r)
	}
	return out
}

// podImages returns the images of the containers of a manifest, however deep its pods are, and
// of custom resources that name one beside a version.
func podImages(doc *document.Node) []Reference {
	var out []Reference
	doc.Walk(func(n *document.Node) bool {
		for _, key := range []string{"containers", "initContainers", "ephemeralContainers"} {
			for _, container := range n.Get(key).List() {
				out = addText(out, container.Get("image"))
			}
		}
		return true
	})
	return out
}

// valuesImages returns the images of a chart's values, in the three usual forms: a text, a map
// with repository and tag, and a map with registry besides. A tag that is left to the version of
// the chart is not known here.
func valuesImages(doc *document.Node) []Reference {
	var out []Reference
	doc.Walk(func(n *document.Node) bool {
		repository := n.Get("repository")
		if tag := n.Get("tag"); repository.IsScalar() && tag.IsScalar() && tag.Text() != "" {
			name := repository.Text()
			if registry := n.Get("registry").Text(); registry != "" {
				name = registry + "/" + name
			}
			if r, ok := Parse(name + ":" + tag.Text()); ok {
				r.Line = tag.Line
				out = append(out, r)
			}
		}
		if image := n.Get("image"); image.IsScalar() {
			// "image: nginx" may also be the name of something else: only with a tag it is certain.
			if r, ok := Parse(expand(image.Text(), nil)); ok && (r.Tag != "" || r.Digest != "") {
				r.Line = image.Line
				out = append(out, r)
			}
		}
		return true
	})
	return out
}
