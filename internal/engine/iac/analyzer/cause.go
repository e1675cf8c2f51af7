package analyzer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
)

// This file tells which flaws are one decision: the same object of Kubernetes in several variants,
// such as install.yaml and ha/install.yaml, overlays of one base, or a manifest that is also part of
// a chart. The driver makes one finding of them, with all places.

// causeOf returns what flaws of the same object in other files share, or "" for objects of other
// platforms. An object is the same if it has the same kind and name and, for a workload, the same
// containers from the same repositories: replicas, arguments and versions differ between variants. Of
// other objects all is compared except for their metadata and the namespaces of subjects.
func causeOf(f kics.Flaw) string {
	if f.Rule != nil && nameOf(f) == "mutable-image" {
		return "versions of images" // one convention for all files
	}
	if f.Document == nil || f.Document.Platform != document.Kubernetes {
		return ""
	}
	root := f.Document.Root
	kind, _ := root["kind"].(string)
	name, _ := valueAt(root, "metadata", "name").(string)
	if kind == "" || name == "" {
		return ""
	}
	if f.Fragment != "" { // all that the object lacks is one decision, also where a variant lacks less
		return strings.Join([]string{kind, name, contentOf(root)}, "\x00")
	}
	return strings.Join([]string{kind, name, contentOf(root), f.Key, f.Actual}, "\x00")
}

// contentOf returns what of an object stays the same in its variants.
func contentOf(root map[string]any) string {
	if spec, ok := specOf(root).(map[string]any); ok {
		return containersOf(spec)
	}
	own := map[string]any{}
	for key, value := range root {
		switch key {
		case "metadata", "status":
		case "subjects":
			own[key] = withoutNamespaces(value)
		default:
			own[key] = value
		}
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(own))) // maps are printed in order
	return hex.EncodeToString(sum[:])
}

// containersOf names the containers of a pod with the repositories of their images.
func containersOf(spec map[string]any) string {
	var out []string
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := spec[field].([]any)
		for _, one := range list {
			image, _ := valueAt(one, "image").(string)
			out = append(out, fmt.Sprint(valueAt(one, "name"), "=", repositoryOf(image)))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// repositoryOf returns the last part of an image's name, without tag and digest: variants may take it
// from another registry.
func repositoryOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// withoutNamespaces leaves the namespaces of subjects out: an overlay sets them.
func withoutNamespaces(subjects any) any {
	list, _ := subjects.([]any)
	out := make([]any, len(list))
	for i, one := range list {
		own := map[string]any{}
		if m, ok := one.(map[string]any); ok {
			for key, value := range m {
				if key != "namespace" {
					own[key] = value
				}
			}
		}
		out[i] = own
	}
	return out
}
