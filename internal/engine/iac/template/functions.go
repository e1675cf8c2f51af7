package template

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file holds the functions of CloudFormation.

// applyFunction returns what a function stands for, if all that it needs is known. What
// encodes or names a thing in the cloud stays as it is written.
func (s *stack) applyFunction(name string, arg any, at *document.Node) (any, bool) {
	// Functions nest and loops repeat them: a small template can ask for billions of results.
	if s.made++; s.made > maxMade {
		return nil, false
	}
	switch name {
	case "Ref":
		to, _ := arg.(string)
		if v, ok := s.loop[to]; ok {
			return v, true
		}
		return s.parameterValue(to)
	case "Fn::Sub":
		return s.substituteText(arg, at)
	case "Fn::FindInMap":
		return s.findInMap(arg, at)
	// Their arguments are computed below. Fn::GetAtt, Fn::ImportValue, Fn::Base64 and others stay.
	case "Fn::ToJsonString", "Fn::Length", "Fn::Join", "Fn::Select", "Fn::Split", "Fn::Cidr":
	default:
		return nil, false
	}
	v, ok := s.computeWhole(arg, withoutTag(at))
	if !ok {
		return nil, false
	}
	if name == "Fn::ToJsonString" {
		return asJSON(v)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	switch name {
	case "Fn::Length":
		return int64(len(list)), true
	case "Fn::Join":
		return joinTexts(list)
	case "Fn::Select":
		return selectItem(list)
	case "Fn::Split":
		return splitText(list)
	}
	return cutNetwork(list)
}

// withoutTag is the node of the argument of a function.
func withoutTag(n *document.Node) *document.Node {
	if n == nil || n.Tag == "" {
		return n
	}
	plain := *n
	plain.Tag = ""
	return &plain
}

// secretName tells parameters whose default is not put in: rules look at the
// parameter itself.
var secretName = regexp.MustCompile(`(?i)passw|secret|token|pwd|credential|private_?key|api_?key|access_?key`)

// parameterValue returns the value of a parameter: what was given, else its default.
func (s *stack) parameterValue(name string) (any, bool) {
	if name == "AWS::Partition" {
		return "aws", true
	}
	params, _ := s.tree.Root["Parameters"].(map[string]any)
	p, ok := params[name].(map[string]any)
	// NoEcho marks a secret. Its default is a finding at the parameter, and would be reported a
	// second time at each use.
	if !ok || p["NoEcho"] != nil || secretName.MatchString(name) {
		return nil, false
	}
	v, given := s.given[name]
	if !given {
		v = p["Default"]
	}
	kind, _ := p["Type"].(string)
	text, isText := v.(string)
	switch {
	// The default of such a parameter is the name of an entry of the Parameter Store, not a value.
	case v == nil || strings.HasPrefix(kind, "AWS::SSM::"):
		return nil, false
	case isText && (kind == "CommaDelimitedList" || strings.HasPrefix(kind, "List<")):
		var list []any
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list, true
	}
	_, unknown := v.(document.Unknown)
	return v, !unknown
}

// placeholder matches "${name}" in a text of Fn::Sub.
var placeholder = regexp.MustCompile(`\$\{[^}]*\}`)

// substituteText puts values into a text. One that is not known leaves the whole text.
func (s *stack) substituteText(arg any, at *document.Node) (any, bool) {
	text, ok := arg.(string)
	own := map[string]any{}
	if list, isList := arg.([]any); isList && len(list) == 2 {
		text, ok = list[0].(string)
		vars, _ := list[1].(map[string]any)
		for name, v := range vars {
			if known, ok := s.computeWhole(v, fieldNode(itemNode(at, 1), name)); ok {
				own[name] = known
			}
		}
	}
	if !ok {
		return nil, false
	}
	all := true
	out := placeholder.ReplaceAllStringFunc(s.replaceLoopNames(text), func(m string) string {
		name := strings.TrimSpace(m[2 : len(m)-1])
		// "${!name}" is the escape for the text "${name}".
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			return "${" + literal + "}"
		}
		v, ok := own[name]
		if !ok {
			v, ok = s.parameterValue(name)
		}
		with, isScalar := scalarText(v)
		if all = all && ok && isScalar; !all {
			return m
		}
		return with
	})
	// Parameters that contain each other through loops could grow without end.
	return out, all && len(out) <= document.MaxSize/16
}

// findInMap looks a value up in a mapping. Where a key is not known, all entries must say
// the same.
func (s *stack) findInMap(arg any, at *document.Node) (any, bool) {
	parts, _ := arg.([]any)
	if len(parts) < 3 {
		return nil, false
	}
	var keys [3]string
	var sure [3]bool
	for i := range keys {
		if v, ok := s.computeWhole(parts[i], itemNode(at, i)); ok {
			keys[i], sure[i] = scalarText(v)
		}
	}
	mappings, _ := s.tree.Root["Mappings"].(map[string]any)
	mapping, ok := mappings[keys[0]].(map[string]any)
	if !sure[0] || !ok || !sure[2] {
		return nil, false
	}
	if sure[1] {
		entry, _ := mapping[keys[1]].(map[string]any)
		if v, ok := entry[keys[2]]; ok {
			return v, true
		}
		// The fourth argument {DefaultValue: …} needs the transform AWS::LanguageExtensions.
		if more, ok := itemAfter(parts, 4).(map[string]any); ok && more["DefaultValue"] != nil {
			return s.computeWhole(more["DefaultValue"], fieldNode(itemNode(at, 3), "DefaultValue"))
		}
		return nil, false
	}
	// Usually the region: when all regions agree, the value is certain all the same.
	return sameInAll(mapping, keys[2])
}

// sameInAll returns the value that each entry of a mapping has under the key.
func sameInAll(mapping map[string]any, key string) (value any, found bool) {
	same := ""
	for _, e := range mapping {
		entry, _ := e.(map[string]any)
		text, ok := scalarText(entry[key])
		if !ok || found && text != same {
			return nil, false
		}
		same, found, value = text, true, entry[key]
	}
	return value, found
}

// itemAfter returns the n-th item of a list, or nil.
func itemAfter(list []any, n int) any {
	if len(list) < n {
		return nil
	}
	return list[n-1]
}

// joinTexts is Fn::Join.
func joinTexts(list []any) (any, bool) {
	if len(list) != 2 {
		return nil, false
	}
	by, ok := list[0].(string)
	parts, isList := list[1].([]any)
	if !ok || !isList {
		return nil, false
	}
	var texts []string
	for _, p := range parts {
		text, ok := scalarText(p)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, by), true
}

// selectItem is Fn::Select.
func selectItem(list []any) (any, bool) {
	if len(list) != 2 {
		return nil, false
	}
	text, _ := scalarText(list[0])
	i, err := strconv.Atoi(text)
	from, _ := list[1].([]any)
	if err != nil || i < 0 || i >= len(from) {
		return nil, false
	}
	return from[i], true
}

// splitText is Fn::Split.
func splitText(list []any) (any, bool) {
	if len(list) != 2 {
		return nil, false
	}
	by, ok := list[0].(string)
	text, also := list[1].(string)
	if !ok || !also || by == "" {
		return nil, false
	}
	var out []any
	for part := range strings.SplitSeq(text, by) {
		out = append(out, part)
	}
	return out, true
}

// cutNetwork cuts a network of IPv4 into so many, each with so many bits for hosts.
func cutNetwork(list []any) (any, bool) {
	if len(list) < 2 {
		return nil, false
	}
	text, _ := list[0].(string)
	p, err := netip.ParsePrefix(text)
	number, _ := scalarText(list[1])
	count, wrong := strconv.Atoi(number)
	// Fn::Cidr takes the host bits, "8" for a /24; without them the networks are of that size.
	bits := 8
	if len(list) == 3 {
		if given, ok := scalarText(list[2]); ok {
			bits, _ = strconv.Atoi(given) // what is no number fits nowhere: 0
		}
	}
	// CloudFormation allows at most 256 networks. IPv6 is left as it is written.
	if err != nil || wrong != nil || !p.Addr().Is4() || count < 1 || count > 256 || bits < 1 || bits > 31 {
		return nil, false
	}
	base := p.Masked().Addr().As4()
	from := uint64(binary.BigEndian.Uint32(base[:]))
	var out []any
	for i := range count {
		at := from + uint64(i)<<bits
		if at >= 1<<32 {
			return nil, false
		}
		binary.BigEndian.PutUint32(base[:], uint32(at))
		out = append(out, netip.PrefixFrom(netip.AddrFrom4(base), 32-bits).String())
	}
	return out, true
}
