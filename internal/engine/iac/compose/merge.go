package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file lays files and services over others.
// See https://docs.docker.com/reference/compose-file/merge/.

// overlayTree returns the tree laid over another.
func overlayTree(over, under document.Tree) document.Tree {
	v, n := mergeValue("", over.Root, over.Lines, under.Root, under.Lines)
	if root, ok := v.(map[string]any); ok && n != nil {
		return document.Tree{Root: root, Lines: n}
	}
	return over
}

// mergeValue lays the value of a field over another one. What both have is where it is
// written underneath, a scalar and an item where it was written last.
func mergeValue(key string, over any, at *document.Node, under any, from *document.Node) (any, *document.Node) {
	if at == nil || from == nil || at.Tag == "!override" || replacedLists[key] {
		return over, at
	}
	if _, isMap := under.(map[string]any); isMap {
		over, at = expandShortForm(key, over, at)
	} else if _, isMap := over.(map[string]any); isMap {
		under, from = expandShortForm(key, under, from)
	}
	switch o := over.(type) {
	case map[string]any:
		if u, ok := under.(map[string]any); ok {
			return mergeFields(o, at, u, from)
		}
	case []any:
		u, ok := under.([]any)
		if ok && len(u) == len(from.Items) && len(o) == len(at.Items) {
			return mergeItems(key, o, at, u, from)
		}
	}
	return over, at
}

// replacedLists are the lists that are not put together.
// A command is one value although it is a list: joining two would make a third one.
var replacedLists = map[string]bool{"command": true, "entrypoint": true, "test": true}

// mergeFields lays the fields of a map over another; "!reset" removes one.
func mergeFields(over map[string]any, at *document.Node, under map[string]any,
	from *document.Node) (any, *document.Node) {
	out, own := maps.Clone(under), *from
	own.Fields = maps.Clone(from.Fields)
	if own.Fields == nil {
		own.Fields = map[string]*document.Node{}
	}
	for key, v := range over {
		n := at.Fields[key]
		// "ports: !reset []" removes what the file underneath publishes.
		if n != nil && n.Tag == "!reset" {
			delete(out, key)
			delete(own.Fields, key)
			continue
		}
		if old, has := out[key]; has && v != nil {
			out[key], own.Fields[key] = mergeValue(key, v, n, old, own.Fields[key])
		} else if !has {
			out[key], own.Fields[key] = v, n
		}
	}
	return out, &own
}

// mergeItems puts lists together; an item that speaks of the same thing as one
// underneath stands in its place.
func mergeItems(key string, over []any, at *document.Node, under []any, from *document.Node) (any, *document.Node) {
	own := *at
	out := slices.Clone(under)
	own.Items = slices.Clone(from.Items)
	for i, v := range over {
		same := slices.IndexFunc(out, func(old any) bool { return itemSubject(key, old) == itemSubject(key, v) })
		if same >= 0 {
			out[same], own.Items[same] = v, at.Items[i]
			continue
		}
		out, own.Items = append(out, v), append(own.Items, at.Items[i])
	}
	return out, &own
}

// separators stand between the name and the value in the items of lists that may be
// maps as well.
var separators = map[string]string{
	"environment": "=", "labels": "=", "annotations": "=", "sysctls": "=", "args": "=", "driver_opts": "=",
	"options":     "=",
	"extra_hosts": "=:", "additional_contexts": "=",
}

// itemSubject is what an item of a list is about: the name before a value, the path in the
// container, or all of it.
func itemSubject(key string, item any) string {
	text, isText := item.(string)
	m, _ := item.(map[string]any)
	switch key {
	case "volumes", "devices", "secrets", "configs", "tmpfs":
		if m != nil {
			return fmt.Sprint(firstOf(m["target"], m["source"], m["path"]))
		}
		if parts := strings.Split(text, ":"); len(parts) > 1 && key != "secrets" && key != "configs" {
			// "./data:/var/lib/data:ro": the same path in the container is the same mount.
			return parts[1]
		}
	case "env_file":
		if m != nil {
			return fmt.Sprint(m["path"])
		}
	}
	if i := strings.IndexAny(text, separators[key]); isText && i > 0 {
		return text[:i]
	}
	return fmt.Sprint(item) // maps are printed in order
}

// firstOf returns the first value that is there.
func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// expandShortForm returns the map that a short form stands for: of a list of names, of a
// list of names with values, or of the context of a build.
func expandShortForm(key string, v any, n *document.Node) (any, *document.Node) {
	own := *n
	own.Items, own.Fields = nil, map[string]*document.Node{}
	switch v := v.(type) {
	case string:
		// "build: ." is short for "build: {context: .}".
		if key == "build" {
			own.Fields["context"] = n
			return map[string]any{"context": v}, &own
		}
	case []any:
		signs, valued := separators[key]
		if len(n.Items) != len(v) || !valued && key != "depends_on" && key != "networks" {
			break
		}
		out := map[string]any{}
		for i, e := range v {
			text, ok := e.(string)
			if !ok {
				continue
			}
			name, value := text, any(nil)
			if at := strings.IndexAny(text, signs); valued && at > 0 {
				name, value = text[:at], text[at+1:]
			}
			out[name], own.Fields[name] = value, n.Items[i]
		}
		return out, &own
	}
	return v, n
}
