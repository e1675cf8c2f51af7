package kustomize

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file applies the fields that change all objects, and makes the objects of
// the generators.

// setNamespace puts the objects that are in namespaces into one.
func setNamespace(objects []*object, namespace string, at *document.Node) {
	for _, o := range objects {
		// A namespace on a cluster-wide object would be an error in Kubernetes.
		if !clusterWide[o.kind()] {
			o.setField([]string{"metadata", "namespace"}, namespace, at)
		}
	}
}

// setReplicas sets how often each of the named workloads runs.
func (k *kustomization) setReplicas(objects []*object) {
	for _, e := range k.listEntries("replicas") {
		m, _ := e.value.(map[string]any)
		for _, o := range objects {
			if name, _ := m["name"].(string); o.hasName(name) && m["count"] != nil && o.hasMap("spec") {
				o.setField([]string{"spec", "replicas"}, m["count"], e.lines)
				o.changed = true
			}
		}
	}
}

// setImages changes the names, tags and digests of images.
func (k *kustomization) setImages(objects []*object) {
	for _, e := range k.listEntries("images") {
		m, _ := e.value.(map[string]any)
		for _, o := range objects {
			v, lines, changed := changeImages(o.root, o.lines, m, e.lines, 0)
			if root, ok := v.(map[string]any); ok && changed {
				o.root, o.lines, o.changed = root, lines, true
			}
		}
	}
}

// applyFields applies patches and then the other fields, in kustomize's order, and removes
// the variables.
func (b *builder) applyFields(k *kustomization, objects []*object) {
	// The order is that of kustomize's transformers. It matters: a patch selects objects by the
	// name before the prefix, and images are set after patches may have added containers.
	b.applyPatches(k, objects)
	text := func(field string) (string, *document.Node) {
		s, _ := k.root[field].(string)
		return s, k.lines.Fields[field]
	}
	if namespace, at := text("namespace"); namespace != "" {
		setNamespace(objects, namespace, at)
	}
	prefix, at := text("namePrefix")
	suffix, end := text("nameSuffix")
	if at == nil {
		at = end
	}
	if prefix != "" || suffix != "" {
		renameObjects(objects, prefix, suffix, at)
	}
	k.addLabels(objects)
	k.setReplicas(objects)
	k.setImages(objects)
	b.applyReplacements(k, objects)
	b.vars = append(b.vars, k.listVariables(objects)...)
}

// sortedKeys returns the keys of a map in order.
func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// clusterWide are the kinds without a namespace.
// It lists the kinds of Kubernetes itself; a custom resource is taken for a namespaced one, as
// kustomize does without its schema.
var clusterWide = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"CustomResourceDefinition": true, "StorageClass": true, "PriorityClass": true, "IngressClass": true,
	"RuntimeClass":                   true,
	"ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true, "APIService": true,
	"PodSecurityPolicy": true,
	"CSIDriver":         true, "VolumeAttachment": true, "ValidatingAdmissionPolicy": true,
	"ValidatingAdmissionPolicyBinding": true,
}

// hasName reports whether the object has, or had before it was renamed, the name.
func (o *object) hasName(name string) bool {
	return name != "" && (o.name() == name || slices.Contains(o.names, name))
}

// hasMap reports whether the object has a map in the field.
func (o *object) hasMap(field string) bool {
	_, ok := o.root[field].(map[string]any)
	return ok
}

// setField sets a field, and makes the maps above it. The position is the kustomization's.
func (o *object) setField(steps []string, value any, at *document.Node) {
	for i := 1; i < len(steps); i++ {
		if v, _, err := findValue(o.root, o.lines, steps[:i]); err != nil || v == nil {
			o.editField(steps[:i], map[string]any{}, at)
		}
	}
	o.editField(steps, value, at)
}

// editField changes a field, as far as the path leads.
func (o *object) editField(steps []string, value any, at *document.Node) {
	place := &document.Node{Line: at.Line, Path: at.Path}
	v, lines, err := editValue(o.root, o.lines, steps, change{"add", value, place})
	if root, ok := v.(map[string]any); ok && err == nil {
		o.root, o.lines = root, lines
	}
}

// addLabels adds the labels and annotations that all objects get.
func (k *kustomization) addLabels(objects []*object) {
	add := func(pairs any, lines *document.Node, above ...string) {
		m, _ := pairs.(map[string]any)
		for _, o := range objects {
			for key, v := range m {
				at := lines
				if n := lines.Fields[key]; n != nil {
					at = n
				}
				// Labels of a pod template only go where there is one: a Service has no
				// spec.template.
				if len(above) > 1 {
					if v, _, err := findValue(o.root, o.lines, above[:len(above)-1]); err != nil || v == nil {
						continue
					}
				}
				o.setField(append(slices.Clone(above), key), v, at)
			}
		}
	}
	if n := k.lines.Fields["commonLabels"]; n != nil {
		add(k.root["commonLabels"], n, "metadata", "labels")
		add(k.root["commonLabels"], n, "spec", "template", "metadata", "labels")
	}
	if n := k.lines.Fields["commonAnnotations"]; n != nil {
		add(k.root["commonAnnotations"], n, "metadata", "annotations")
	}
	for _, e := range k.listEntries("labels") {
		m, _ := e.value.(map[string]any)
		n := e.lines.Fields["pairs"]
		if n == nil {
			continue
		}
		add(m["pairs"], n, "metadata", "labels")
		if m["includeTemplates"] == true || m["includeSelectors"] == true {
			add(m["pairs"], n, "spec", "template", "metadata", "labels")
		}
	}
}

// renameObjects puts prefix and suffix around names, and around what refers to them.
func renameObjects(objects []*object, prefix, suffix string, at *document.Node) {
	names := map[string]string{}
	for _, o := range objects {
		name := o.name()
		// kustomize leaves these names: others depend on them outside of the build.
		if name == "" || o.kind() == "Namespace" || o.kind() == "CustomResourceDefinition" {
			continue
		}
		names[name] = prefix + name + suffix
		o.names = append(o.names, name)
		o.editField([]string{"metadata", "name"}, names[name], at)
	}
	for _, o := range objects {
		if root, ok := renameReferences(o.root, "", names, 0).(map[string]any); ok {
			// "name" in the metadata is the object's own, which is renamed already.
			root["metadata"] = o.root["metadata"]
			o.root = root
		}
	}
}

// A reference is a name in one of these fields, or "name" below the others.
var (
	nameFields = map[string]bool{"secretName": true, "serviceAccountName": true, "claimName": true, "serviceName": true}
	nameParent = map[string]bool{
		"configMap": true, "configMapRef": true, "configMapKeyRef": true, "secretRef": true, "secretKeyRef": true,
		"roleRef": true, "subjects": true, "scaleTargetRef": true, "service": true, "imagePullSecrets": true,
	}
)

// renameReferences returns the value with the new names.
func renameReferences(v any, above string, names map[string]string, depth int) any {
	if depth > document.MaxDepth {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			s, isText := e.(string)
			if renamed, ok := names[s]; isText && ok && (nameFields[key] || key == "name" && nameParent[above]) {
				out[key] = renamed
				continue
			}
			out[key] = renameReferences(e, key, names, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = renameReferences(e, above, names, depth+1)
		}
		return out
	}
	return v
}

// changeImages changes the images of containers anywhere in the value.
func changeImages(v any, lines *document.Node, set map[string]any, at *document.Node,
	depth int) (any, *document.Node, bool) {
	if depth > document.MaxDepth || lines == nil {
		return v, lines, false
	}
	changed := false
	own := *lines
	switch c := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(c))
		own.Fields = make(map[string]*document.Node, len(c))
		for key, e := range c {
			below := lines.Fields[key]
			if s, ok := e.(string); ok && key == "image" && below != nil {
				if image := newImage(s, set); image != s {
					out[key], own.Fields[key], changed = image, &document.Node{Line: at.Line, Path: at.Path}, true
					continue
				}
			}
			var inner bool
			out[key], own.Fields[key], inner = changeImages(e, below, set, at, depth+1)
			changed = changed || inner
		}
		return out, &own, changed
	case []any:
		out := slices.Clone(c)
		own.Items = slices.Clone(lines.Items)
		for i := range out {
			if i < len(own.Items) {
				var inner bool
				out[i], own.Items[i], inner = changeImages(c[i], own.Items[i], set, at, depth+1)
				changed = changed || inner
			}
		}
		return out, &own, changed
	}
	return v, lines, false
}

// newImage returns the image with the new name, tag or digest.
func newImage(image string, change map[string]any) string {
	name, rest := image, ""
	// The digest first: it contains a colon, as in "nginx@sha256:…".
	if i := strings.IndexByte(name, '@'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	// A colon before the last slash belongs to the port of the registry, "host:5000/app".
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, rest = name[:i], name[i:]+rest
	}
	if name != change["name"] {
		return image
	}
	if s, ok := change["newName"].(string); ok && s != "" {
		name = s
	}
	if tag := change["newTag"]; tag != nil && tag != "" {
		rest = ":" + fmt.Sprint(tag)
	}
	if digest, ok := change["digest"].(string); ok && digest != "" {
		rest = "@" + digest
	}
	return name + rest
}

// takeData puts generated data into an object that is there, in place of its own or beside it.
func (o *object) takeData(data map[string]any, lines *document.Node, replace bool, at *document.Node) {
	if replace {
		o.setField([]string{"data"}, map[string]any{}, at)
	}
	for _, key := range sortedKeys(data) {
		o.setField([]string{"data", key}, data[key], lines.Fields[key])
	}
	o.changed = true
}

// addGenerated returns the objects with those of configMapGenerator and secretGenerator.
// One that is to be merged into another, or to replace it, changes that.
func (b *builder) addGenerated(k *kustomization, objects []*object) []*object {
	out := objects
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, e := range k.listEntries(field) {
			m, ok := e.value.(map[string]any)
			if !ok {
				continue
			}
			name, _ := m["name"].(string)
			data, lines := b.generatorData(k, m, e.lines)
			root := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
				"data": data}
			if field == "secretGenerator" {
				root["kind"], root["type"] = "Secret", "Opaque"
				if s, ok := m["type"].(string); ok {
					root["type"] = s
				}
				for key, v := range data {
					data[key] = base64.StdEncoding.EncodeToString([]byte(v.(string)))
				}
			}
			// "create" is the default. kustomize also appends a hash of the content to the name,
			// which is left out: no rule depends on it, and the findings would move with the
			// content.
			if behavior, _ := m["behavior"].(string); behavior == "merge" || behavior == "replace" {
				i := slices.IndexFunc(objects, func(o *object) bool {
					return o.kind() == root["kind"] && o.hasName(name)
				})
				if i < 0 {
					b.addProblem(k.path, e.lines.Line, "generator: no object %q that it could %s", name, behavior)
					continue
				}
				objects[i].takeData(data, lines, behavior == "replace", e.lines)
				continue
			}
			at := func() *document.Node { return &document.Node{Line: e.lines.Line, Path: e.lines.Path} }
			node := at()
			node.Fields = map[string]*document.Node{"apiVersion": at(), "kind": at(), "metadata": at(), "data": lines,
				"type": at()}
			node.Fields["metadata"].Fields = map[string]*document.Node{"name": at()}
			out = append(out, &object{root: root, lines: node, path: k.path, names: []string{name}, changed: true})
		}
	}
	return out
}

// generatorData reads what a generator puts into its object: literals, files and files of
// "name=value" lines.
func (b *builder) generatorData(k *kustomization, m map[string]any,
	lines *document.Node) (map[string]any, *document.Node) {
	data := map[string]any{}
	at := &document.Node{Line: lines.Line, Path: lines.Path, Fields: map[string]*document.Node{}}
	put := func(key, value string, n *document.Node) {
		data[key], at.Fields[key] = value, &document.Node{Line: n.Line, Path: n.Path}
	}
	for _, e := range itemsOf(m["literals"], lines.Fields["literals"]) {
		s, _ := e.value.(string)
		if key, value, ok := strings.Cut(s, "="); ok {
			put(key, strings.Trim(value, `"'`), e.lines)
		}
	}
	list := itemsOf(m["files"], lines.Fields["files"])
	for _, field := range []string{"envs", "env"} {
		if s, ok := m[field].(string); ok {
			list = append(list, entry{s, lines.Fields[field]})
		}
		list = append(list, itemsOf(m[field], lines.Fields[field])...)
	}
	files := len(itemsOf(m["files"], lines.Fields["files"]))
	for i, e := range list {
		key, name, named := strings.Cut(fmt.Sprint(e.value), "=")
		if !named {
			key, name = path.Base(key), key
		}
		p, err := k.localPath(entry{name, e.lines})
		var text []byte
		if err == nil {
			text, err = b.readFile(p)
		}
		if err != nil {
			b.addProblem(k.path, e.lines.Line, "generator: %w", err)
			continue
		}
		// A large file in a ConfigMap adds nothing to what rules check.
		text = text[:min(len(text), maxText)]
		if i < files {
			put(key, string(text), e.lines)
			continue
		}
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key[:min(len(key), 1)] != "#" {
				put(key, value, e.lines)
			}
		}
	}
	return data, at
}
