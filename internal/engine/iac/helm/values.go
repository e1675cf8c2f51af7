package helm

import (
	"fmt"
	"maps"
	"strings"
)

// This file computes what ".Values" is in each chart: its own values, below those
// that the parent gives it under its name, with "global" handed down.

// maxDepth bounds how deep values are nested.
const maxDepth = 100

// plainValue turns a decoded YAML value into what templates work with: maps with string
// keys, int64 and float64.
func plainValue(v any, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plainValue(e, depth+1)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[fmt.Sprint(k)] = plainValue(e, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainValue(e, depth+1)
		}
		return out
	case int:
		return int64(v)
	// Only integers above the int64 range: templates cannot calculate with them anyway.
	case uint64:
		return float64(v)
	}
	return v
}

// plainMap is plainValue of a map; nil stays nil.
func plainMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := plainValue(m, 0).(map[string]any)
	return out
}

// overlayValues lays values over defaults: maps are joined, null removes a default.
func overlayValues(values, defaults map[string]any, depth int) map[string]any {
	out := maps.Clone(defaults)
	if out == nil {
		out = map[string]any{}
	}
	if depth > maxDepth {
		return out
	}
	for k, v := range values {
		mine, isMap := v.(map[string]any)
		theirs, areMaps := out[k].(map[string]any)
		switch {
		// "key: null" in the values of a user removes the default of the chart.
		case v == nil && depth >= 0:
			delete(out, k)
		case isMap && areMaps:
			out[k] = overlayValues(mine, theirs, depth+1)
		default:
			out[k] = v
		}
	}
	return out
}

// layerValues lays values over others that are given with them: null is a value still.
func layerValues(values, below map[string]any, depth int) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range values {
		mine, isMap := v.(map[string]any)
		theirs, areMaps := out[k].(map[string]any)
		if isMap && areMaps && depth < maxDepth {
			v = layerValues(mine, theirs, depth+1)
		}
		out[k] = v
	}
	return out
}

// coalesceValues returns the values of the chart, and below the names of subcharts theirs.
// It leaves out subcharts that the values switch off.
func (c *Chart) coalesceValues(given map[string]any) map[string]any {
	values := overlayValues(given, c.values, 0)
	for _, sub := range c.children {
		if !sub.isEnabled(values) {
			continue
		}
		name := sub.chart.name
		own, _ := values[name].(map[string]any)
		if global, ok := values["global"].(map[string]any); ok {
			below, _ := own["global"].(map[string]any)
			own = maps.Clone(own)
			if own == nil {
				own = map[string]any{}
			}
			own["global"] = overlayValues(global, below, 0)
		}
		values[name] = sub.chart.coalesceValues(own)
		values = sub.importValues(values)
	}
	return values
}

// isEnabled reports whether the values of the parent want the subchart: the first
// condition that is set decides, else its tags.
func (s child) isEnabled(values map[string]any) bool {
	// "redis.enabled,global.redis.enabled": a path that is not set is skipped.
	for condition := range strings.SplitSeq(s.ask.Condition, ",") {
		if v, ok := lookupValue(values, strings.TrimSpace(condition)).(bool); ok {
			return v
		}
	}
	tags, _ := values["tags"].(map[string]any)
	// Without tags that are set, or with one that is true, the subchart is enabled.
	off := false
	for _, tag := range s.ask.Tags {
		if v, ok := tags[tag].(bool); ok {
			if v {
				return true
			}
			off = true
		}
	}
	return !off
}

// importValues puts values of the subchart where the parent imports them
// ("import-values").
func (s child) importValues(values map[string]any) map[string]any {
	for _, entry := range s.ask.ImportValues {
		from, to := "", ""
		switch e := entry.(type) {
		case string:
			from = "exports." + e
		case map[string]any:
			from, _ = e["child"].(string)
			to, _ = e["parent"].(string)
		}
		found, ok := lookupValue(values, s.chart.name+"."+from).(map[string]any)
		if from == "" || !ok {
			continue
		}
		if to != "" && to != "." {
			parts := strings.Split(to, ".")
			// From the innermost name outwards: "a.b" becomes {a: {b: found}}.
			for i := len(parts) - 1; i >= 0; i-- {
				found = map[string]any{parts[i]: found}
			}
		}
		values = overlayValues(values, found, 0)
	}
	return values
}

// lookupValue follows names separated by dots.
func lookupValue(values map[string]any, names string) any {
	var at any = values
	for name := range strings.SplitSeq(names, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[name]
	}
	return at
}
