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

// plain turns a decoded YAML value into what templates work with: maps with string
// keys, int64 and float64.
func plain(v any, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e, depth+1)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[fmt.Sprint(k)] = plain(e, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e, depth+1)
		}
		return out
	case int:
		return int64(v)
	case uint64:
		return float64(v)
	}
	return v
}

func plainMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out, _ := plain(m, 0).(map[string]any)
	return out
}

// over lays values over defaults: maps are joined, null takes a default away.
func over(values, defaults map[string]any, depth int) map[string]any {
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
		case v == nil && depth >= 0:
			delete(out, k)
		case isMap && areMaps:
			out[k] = over(mine, theirs, depth+1)
		default:
			out[k] = v
		}
	}
	return out
}

// layer lays values over others that are given with them: null is a value still.
func layer(values, below map[string]any, depth int) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range values {
		mine, isMap := v.(map[string]any)
		theirs, areMaps := out[k].(map[string]any)
		if isMap && areMaps && depth < maxDepth {
			v = layer(mine, theirs, depth+1)
		}
		out[k] = v
	}
	return out
}

// coalesce returns the values of the chart, and below the names of subcharts
// theirs. It leaves out subcharts that the values switch off.
func (c *Chart) coalesce(given map[string]any) map[string]any {
	values := over(given, c.values, 0)
	for _, sub := range c.children {
		if !sub.enabled(values) {
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
			own["global"] = over(global, below, 0)
		}
		values[name] = sub.chart.coalesce(own)
		values = sub.export(values)
	}
	return values
}

// enabled reports whether the values of the parent want the subchart: the first
// condition that is set decides, else its tags.
func (s child) enabled(values map[string]any) bool {
	for condition := range strings.SplitSeq(s.ask.Condition, ",") {
		if v, ok := lookup(values, strings.TrimSpace(condition)).(bool); ok {
			return v
		}
	}
	tags, _ := values["tags"].(map[string]any)
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

// export puts values of the subchart where the parent imports them ("import-values").
func (s child) export(values map[string]any) map[string]any {
	for _, entry := range s.ask.ImportValues {
		from, to := "", ""
		switch e := entry.(type) {
		case string:
			from = "exports." + e
		case map[string]any:
			from, _ = e["child"].(string)
			to, _ = e["parent"].(string)
		}
		found, ok := lookup(values, s.chart.name+"."+from).(map[string]any)
		if from == "" || !ok {
			continue
		}
		if to != "" && to != "." {
			parts := strings.Split(to, ".")
			for i := len(parts) - 1; i >= 0; i-- {
				found = map[string]any{parts[i]: found}
			}
		}
		values = over(values, found, 0)
	}
	return values
}

// lookup follows names separated by dots.
func lookup(values map[string]any, names string) any {
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
