package kustomize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file applies patches: strategic merge
// (https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md)
// and JSON patch (RFC 6902).

// matches reports whether the object is one that the selector selects.
func (m selector) matches(o *object) bool {
	// "apps/v1" is group and version; the core group has no name: "v1".
	version, _ := o.root["apiVersion"].(string)
	group, v, ok := strings.Cut(version, "/")
	if !ok {
		group, v = "", version
	}
	namespace, _ := o.metadata()["namespace"].(string)
	return matchesPattern(m.Kind, o.kind()) && matchesPattern(m.Group, group) && matchesPattern(m.Version, v) &&
		(m.Name == "" || slices.ContainsFunc(o.names, func(n string) bool { return matchesPattern(m.Name, n) }) ||
			matchesPattern(m.Name, o.name())) &&
		matchesPattern(m.Namespace, namespace) && matchesLabels(m.LabelSelector, o.metadata()["labels"]) &&
		matchesLabels(m.AnnotationSelector, o.metadata()["annotations"])
}

// matchesPattern compares with a pattern, which is an anchored regular expression.
func matchesPattern(pattern, s string) bool {
	if pattern == "" || pattern == s {
		return true
	}
	// Plain names, by far the most, need no compilation; no real pattern is longer than 1,000.
	if len(pattern) > 1000 || !strings.ContainsAny(pattern, `\.+*?()|[]{}^$`) {
		return false
	}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(s)
}

// matchesLabels follows a selector of equalities, "a=b,c!=d,e".
func matchesLabels(selector string, labels any) bool {
	if selector == "" {
		return true
	}
	m, _ := labels.(map[string]any)
	for term := range strings.SplitSeq(selector, ",") {
		key, want, equal := strings.Cut(term, "=")
		// "a!=b" is cut at "=", which leaves "a!"; "a==b" leaves the second sign on the value.
		different := strings.HasSuffix(key, "!")
		key = strings.TrimSpace(strings.TrimRight(key, "!"))
		want = strings.TrimSpace(strings.TrimLeft(want, "="))
		v, has := m[key]
		if !equal && !has || equal && (has && fmt.Sprint(v) == want) == different {
			return false
		}
	}
	return true
}

// applyPatches applies the entries of the three fields for patches.
func (b *builder) applyPatches(k *kustomization, objects []*object) {
	for _, e := range k.listEntries("patchesStrategicMerge") {
		if err := b.applyPatch(k, e, nil, objects); err != nil {
			b.addProblem(k.path, e.lines.Line, "patch: %w", err)
		}
	}
	for _, field := range []string{"patches", "patchesJson6902"} {
		for _, e := range k.listEntries(field) {
			if err := b.patchEntry(k, e, objects); err != nil {
				b.addProblem(k.path, e.lines.Line, "patch: %w", err)
			}
		}
	}
}

// patchEntry applies {"path" or "patch", "target"}.
func (b *builder) patchEntry(k *kustomization, e entry, objects []*object) error {
	m, ok := e.value.(map[string]any)
	if !ok {
		return b.applyPatch(k, e, nil, objects)
	}
	var want *selector
	if m["target"] != nil {
		t, err := parseSelector(m["target"])
		if err != nil {
			return err
		}
		want = &t
	}
	for _, key := range []string{"path", "patch"} {
		if v, ok := m[key].(string); ok {
			return b.applyPatch(k, entry{v, e.lines.Fields[key]}, want, objects)
		}
	}
	return fmt.Errorf("neither path nor patch")
}

// applyPatch applies one patch: text, or the path of a file with it.
func (b *builder) applyPatch(k *kustomization, e entry, want *selector, objects []*object) error {
	s, _ := e.value.(string)
	var trees []document.Tree
	// kustomize makes no difference by field either: what contains a line break or a bracket is the
	// patch itself, all else is a path.
	if strings.ContainsAny(s, "\n{[") {
		var err error
		if trees, err = k.decodeText(s, e.lines); err != nil {
			return err
		}
	} else {
		p, err := k.localPath(e)
		if err != nil {
			return err
		}
		text, err := b.readFile(p)
		if err != nil {
			return err
		}
		if strings.HasSuffix(p, ".json") {
			trees, err = decodeJSON(text)
		} else {
			trees, err = document.DecodeYAML(text)
		}
		if err != nil {
			return err
		}
		for _, t := range trees {
			setFile(t.Lines, p)
		}
	}
	for _, t := range trees {
		if err := applyTree(t, want, objects); err != nil {
			return err
		}
	}
	return nil
}

// decodeJSON reads a JSON text, of which a list is one tree, as in YAML.
func decodeJSON(text []byte) ([]document.Tree, error) {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		return document.DecodeYAML(text)
	}
	return document.DecodeJSON(text)
}

// applyTree applies one document of a patch to the objects that it is for.
func applyTree(t document.Tree, want *selector, objects []*object) error {
	// The YAML reader wraps a document that is a list, as a JSON patch is, in the key "playbooks".
	operations, isJSON := t.Root["playbooks"].([]any)
	if want == nil {
		if isJSON {
			return fmt.Errorf("a JSON patch without a target")
		}
		o := object{root: t.Root}
		version, _ := t.Root["apiVersion"].(string)
		group, _, grouped := strings.Cut(version, "/")
		if !grouped {
			group = ""
		}
		// Without a target the patch selects by its own kind, group and name. The names are quoted,
		// because a selector is a pattern and "." would match any character.
		want = &selector{Kind: o.kind(), Group: regexp.QuoteMeta(group), Name: regexp.QuoteMeta(o.name())}
	}
	found := false
	for _, o := range objects {
		if !want.matches(o) {
			continue
		}
		found, o.changed = true, true
		if !isJSON {
			name := o.name()
			o.mergePatch(t)
			if m := o.metadata(); m != nil && name != "" {
				m["name"] = name // the patch only says by it which object it is for
			}
			continue
		}
		for _, e := range itemsOf(operations, t.Lines.Fields["playbooks"]) {
			if err := o.applyOperation(e); err != nil {
				return fmt.Errorf("%s %s: %w", o.kind(), o.name(), err)
			}
		}
	}
	if !found {
		return fmt.Errorf("no object that it is for")
	}
	return nil
}

// mergePatch applies a strategic merge patch to the object.
func (o *object) mergePatch(t document.Tree) {
	v, lines := mergeValues(o.root, o.lines, t.Root, t.Lines)
	if root, ok := v.(map[string]any); ok {
		o.root, o.lines = root, lines
	}
}

// mergeValues lays a patch over a value. Nothing given is changed: patches are applied to
// many objects, and bases are shared.
func mergeValues(old any, oldLines *document.Node, patch any, patchLines *document.Node) (any, *document.Node) {
	switch p := patch.(type) {
	case map[string]any:
		m, ok := old.(map[string]any)
		// "$patch: replace" asks for the patch in place of the old value. Without positions a merge
		// could not say where a finding lies.
		if !ok || p["$patch"] == "replace" || oldLines == nil || patchLines == nil {
			return patch, patchLines
		}
		out := make(map[string]any, len(m)+len(p))
		lines := *oldLines
		lines.Fields = make(map[string]*document.Node, len(m)+len(p))
		for key, v := range m {
			out[key], lines.Fields[key] = v, oldLines.Fields[key]
		}
		for key, v := range p {
			// null deletes the field, in strategic merge as in RFC 7396.
			if v == nil {
				delete(out, key)
				delete(lines.Fields, key)
				continue
			}
			// Directives such as $setElementOrder and $retainKeys steer the merge; they are no
			// fields.
			if strings.HasPrefix(key, "$") {
				continue
			}
			out[key], lines.Fields[key] = mergeField(key, out[key], lines.Fields[key], v, patchLines.Fields[key])
		}
		return out, &lines
	case string, bool, int64:
		// What says which object or item is meant stays where it was written.
		if patch == old && oldLines != nil {
			return old, oldLines
		}
	}
	return patch, patchLines
}

// mergeKeys say by which field the items of a list are the same, by the list's name.
// The names are the patchMergeKey tags of the Kubernetes API types. "ports" has two, since
// containers and services name the port differently. A list that is missing here is replaced.
var mergeKeys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "ephemeralContainers": {"name"}, "volumes": {"name"},
	"env":   {"name"},
	"ports": {"containerPort", "port"}, "volumeMounts": {"mountPath"}, "volumeDevices": {"devicePath"},
	"imagePullSecrets": {"name"}, "secrets": {"name"}, "hostAliases": {"ip"},
	"topologySpreadConstraints": {"topologyKey"},
}

// mergeField merges one field; a list item by item where its items have a key.
func mergeField(key string, old any, oldLines *document.Node, patch any,
	patchLines *document.Node) (any, *document.Node) {
	changes, isList := patch.([]any)
	list, wasList := old.([]any)
	keys := mergeKeys[key]
	if !isList || !wasList || keys == nil || oldLines == nil || patchLines == nil {
		return mergeValues(old, oldLines, patch, patchLines)
	}
	out, lines := slices.Clone(list), *oldLines
	lines.Items = slices.Clone(oldLines.Items)
	for i, change := range changes {
		m, ok := change.(map[string]any)
		at := slices.IndexFunc(out, func(v any) bool { return ok && sameKey(v, m, keys) })
		switch {
		// An item that is only {"$patch": "replace"} empties the list: the items that follow it are
		// the new ones.
		case ok && m["$patch"] == "replace" && len(m) == 1:
			out, lines.Items = nil, nil
		case ok && m["$patch"] == "delete":
			if at >= 0 {
				out, lines.Items = slices.Delete(out, at, at+1), slices.Delete(lines.Items, at, at+1)
			}
		case at >= 0:
			out[at], lines.Items[at] = mergeValues(out[at], lines.Items[at], change, patchLines.Items[i])
		default:
			out, lines.Items = append(out, change), append(lines.Items, patchLines.Items[i])
		}
	}
	return out, &lines
}

// sameKey reports whether two items have the same key.
func sameKey(v any, m map[string]any, keys []string) bool {
	one, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range keys {
		if one[key] != nil && m[key] != nil {
			return fmt.Sprint(one[key]) == fmt.Sprint(m[key])
		}
	}
	return false
}

// applyOperation applies one operation of a JSON patch (RFC 6902, section 4).
func (o *object) applyOperation(e entry) error {
	m, _ := e.value.(map[string]any)
	op, _ := m["op"].(string)
	pointer, _ := m["path"].(string)
	value, lines := m["value"], e.lines.Fields["value"]
	steps := pointerSteps(pointer)
	if len(steps) == 0 || len(steps) > document.MaxDepth {
		return fmt.Errorf("the path %.80q names nothing", pointer)
	}
	var root any = o.root
	var err error
	at := o.lines
	switch op {
	// A failed test would stop kustomize. The analysis goes on, since it checks the result and not
	// the build.
	case "test":
		return nil
	case "move", "copy":
		source, _ := m["from"].(string)
		if value, lines, err = findValue(root, at, pointerSteps(source)); err != nil {
			return err
		}
		// Copies of copies double the object with each operation: n operations would make 2^n
		// values.
		if err = o.countCopied(value); err != nil {
			return err
		}
		if op == "move" {
			if root, at, err = editValue(root, at, pointerSteps(source),
				change{op: "remove", at: e.lines}); err != nil {
				return err
			}
		}
		op = "add"
	case "add", "replace", "remove":
	default:
		return fmt.Errorf("no operation %.20q", op)
	}
	if lines == nil {
		lines = e.lines
	}
	if root, at, err = editValue(root, at, steps, change{op, value, lines}); err != nil {
		return err
	}
	if r, ok := root.(map[string]any); ok {
		o.root, o.lines = r, at
	}
	return nil
}

// pointerSteps returns the steps of a JSON pointer (RFC 6901).
func pointerSteps(pointer string) []string {
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	steps := strings.Split(pointer[1:], "/")
	for i, s := range steps {
		// One pass over both escapes, since "~01" stands for "~1" and not for "/".
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return steps
}

// findValue returns the value at the path.
func findValue(v any, lines *document.Node, steps []string) (any, *document.Node, error) {
	for _, s := range steps {
		switch c := v.(type) {
		case map[string]any:
			v = c[s]
		case []any:
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n >= len(c) {
				return nil, nil, fmt.Errorf("no item %.20q", s)
			}
			v = c[n]
		default:
			return nil, nil, fmt.Errorf("nothing at %.80q", s)
		}
		lines, _ = lines.Find(s)
	}
	return v, lines, nil
}

// A change is what happens at one place: "add", "replace" or "remove".
type change struct {
	op string
	// what is added or put in place; nil for a removal
	value any
	at    *document.Node // where the change is written
}

// editValue returns the value with the change made at the path; what is given stays.
func editValue(v any, lines *document.Node, steps []string, c change) (any, *document.Node, error) {
	if len(steps) == 0 {
		return c.value, c.at, nil
	}
	step := steps[0]
	if lines == nil {
		lines = c.at
	}
	// Copies along the path only: the rest of the tree is shared with other objects.
	own := *lines
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v)+1)
		own.Fields = make(map[string]*document.Node, len(v)+1)
		for k, e := range v {
			out[k], own.Fields[k] = e, lines.Fields[k]
		}
		if len(steps) == 1 && c.op == "remove" {
			delete(out, step)
			delete(own.Fields, step)
			return out, &own, nil
		}
		// RFC 6902, section 4.1: the parent of what is added must exist.
		if _, has := v[step]; !has && len(steps) > 1 {
			return nil, nil, fmt.Errorf("nothing at %.80q", step)
		}
		below, places, err := editValue(v[step], own.Fields[step], steps[1:], c)
		out[step], own.Fields[step] = below, places
		return out, &own, err
	case []any:
		return editList(v, own, steps, c)
	}
	return nil, nil, fmt.Errorf("nothing at %.80q", step)
}

// editList is editValue of a list; "-" is the position behind its last item.
func editList(list []any, lines document.Node, steps []string, c change) (any, *document.Node, error) {
	// The list was computed and has no line for each item.
	if len(lines.Items) != len(list) {
		return nil, nil, fmt.Errorf("a list without positions")
	}
	n, err := strconv.Atoi(steps[0])
	if steps[0] == "-" {
		n, err = len(list), nil
	}
	add := len(steps) == 1 && c.op == "add"
	if err != nil || n < 0 || n > len(list) || n == len(list) && !add {
		return nil, nil, fmt.Errorf("no item %.20q", steps[0])
	}
	out := slices.Clone(list)
	lines.Items = slices.Clone(lines.Items)
	switch {
	case add:
		out, lines.Items = slices.Insert(out, n, c.value), slices.Insert(lines.Items, n, c.at)
	case len(steps) == 1 && c.op == "remove":
		out, lines.Items = slices.Delete(out, n, n+1), slices.Delete(lines.Items, n, n+1)
	default:
		out[n], lines.Items[n], err = editValue(list[n], lines.Items[n], steps[1:], c)
	}
	return out, &lines, err
}
