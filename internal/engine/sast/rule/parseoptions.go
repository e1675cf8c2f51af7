package rule

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// booleans are the options that are true or false, by their names in the format.
var booleans = map[string]func(*Options) *bool{
	"constant_propagation":                     func(o *Options) *bool { return &o.ConstantPropagation },
	"symbolic_propagation":                     func(o *Options) *bool { return &o.SymbolicPropagation },
	"taint_unify_mvars":                        func(o *Options) *bool { return &o.TaintUnifyMetavariables },
	"taint_assume_safe_functions":              func(o *Options) *bool { return &o.TaintAssumeSafeFunctions },
	"taint_assume_safe_indexes":                func(o *Options) *bool { return &o.TaintAssumeSafeIndexes },
	"taint_assume_safe_comparisons":            func(o *Options) *bool { return &o.TaintAssumeSafeComparisons },
	"taint_assume_safe_booleans":               func(o *Options) *bool { return &o.TaintAssumeSafeBooleans },
	"taint_assume_safe_numbers":                func(o *Options) *bool { return &o.TaintAssumeSafeNumbers },
	"taint_only_propagate_through_assignments": func(o *Options) *bool { return &o.TaintOnlyPropagateThroughAssigning },
	"taint_intrafile":                          func(o *Options) *bool { return &o.Intrafile },
	"ac_matching":                              func(o *Options) *bool { return &o.ACMatching },
	"commutative_boolop":                       func(o *Options) *bool { return &o.CommutativeBoolOp },
	"commutative_compop":                       func(o *Options) *bool { return &o.SymmetricEq }, // its older name
	"symmetric_eq":                             func(o *Options) *bool { return &o.SymmetricEq },
	"vardef_assign":                            func(o *Options) *bool { return &o.VardefAssign },
	"flddef_assign":                            func(o *Options) *bool { return &o.FlddefAssign },
	"attr_expr":                                func(o *Options) *bool { return &o.AttrExpr },
	"unify_ids_strictly":                       func(o *Options) *bool { return &o.UnifyIDsStrictly },
	"arrow_is_function":                        func(o *Options) *bool { return &o.ArrowIsFunction },
	"let_is_var":                               func(o *Options) *bool { return &o.LetIsVar },
	"go_deeper_expr":                           func(o *Options) *bool { return &o.DeeperExpr },
	"go_deeper_stmt":                           func(o *Options) *bool { return &o.DeeperStmt },
	"implicit_deep_exprstmt":                   func(o *Options) *bool { return &o.ImplicitDeepExprStmt },
	"implicit_ellipsis":                        func(o *Options) *bool { return &o.ImplicitEllipsis },
	"implicit_return":                          func(o *Options) *bool { return &o.ImplicitReturn },
	"decorators_order_matters":                 func(o *Options) *bool { return &o.DecoratorsOrderMatters },
	"xml_singleton_loose_matching":             func(o *Options) *bool { return &o.XMLSingletonLoose },
	"xml_attrs_implicit_ellipsis":              func(o *Options) *bool { return &o.XMLAttrsImplicitEllips },
	"xml_children_ordered":                     func(o *Options) *bool { return &o.XMLChildrenOrdered },
	"generic_multiline":                        func(o *Options) *bool { return &o.GenericMultiline },
	"generic_caseless":                         func(o *Options) *bool { return &o.GenericCaseless },
}

// readOptions reads the options of a rule. Options of the format that this engine implies are read
// and ignored; those that it cannot honour are faults.
func (b *builder) readOptions(n *yaml.Node) Options {
	o := DefaultOptions()
	if n == nil {
		return o
	}
	d := b.readDict(n, "options")
	if d == nil {
		return o
	}
	for _, p := range d.pairs {
		if field, ok := booleans[p.key.Value]; ok {
			at := field(&o)
			*at = d.takeBool(p.key.Value, *at)
		}
	}
	if d.has("interfile") {
		v := d.takeBool("interfile", true)
		o.Interfile = &v
	}
	for _, key := range []string{"taint_focus_on", "taint_match_on"} {
		if d.has(key) {
			o.TaintFocusOnSource = b.readChoice(d, key, "sink", "source") == "source"
		}
	}
	o.CPPParseAsFunctionFirst = b.readChoice(d, "cpp_parsing_pref", "as_vardef_with_ctor", "as_fundef") == "as_fundef"
	o.GenericEngine = b.readChoice(d, "generic_engine", Spacegrep, Aliengrep)
	o.GenericComments = b.readChoice(d, "generic_comment_style", "", "c", "cpp", "shell")
	o.GenericMaxSpan = d.takeInt("generic_ellipsis_max_span", 10_000, o.GenericMaxSpan)
	o.GenericBraces = b.readBraces(d.take("generic_braces"))
	o.GenericExtraBraces = b.readBraces(d.take("generic_extra_braces"))
	for _, c := range b.readStrings(d.take("generic_extra_word_characters"), "generic_extra_word_characters", false) {
		o.GenericExtraWord += c
	}
	o.MaxMatchesPerFile = d.takeInt("max_match_per_file", 1_000_000, 0)
	o.TimeoutSeconds = b.readSeconds(d.take("timeout"), "timeout")
	o.DynamicTimeout = d.takeBool("dynamic_timeout", false)
	o.TimeoutUnit = max(1, d.takeInt("dynamic_timeout_unit_kb", 1_000_000, o.TimeoutUnit))
	o.TimeoutFactor = max(1, d.takeInt("dynamic_timeout_max_multiplier", 1_000_000, o.TimeoutFactor))
	if n := d.take("taint_fixpoint_timeout"); n != nil {
		b.reportFault(n.Line, "taint_fixpoint_timeout is not supported: data is followed for many rules at once, "+
			"within "+
			"limits of the engine")
	}
	d.takeBool("guarded_taint_signatures", true) // ours is always so: branches that cannot be taken are cut
	d.reportUnused("options")
	return o
}

// readChoice reads one of some words; the first is what holds without the key. An empty word among
// the choices is the default alone, and cannot be written.
func (b *builder) readChoice(d *dict, key string, words ...string) string {
	n := d.take(key)
	if n == nil {
		return words[0]
	}
	text := b.readScalar(n, key)
	for _, w := range words {
		if w == text && w != "" {
			return w
		}
	}
	b.reportFault(n.Line, "%s must be one of %v, not %q", key, words, text)
	return words[0]
}

// readSeconds reads a duration in seconds, 0 when there is none. The bound keeps a rule from
// holding a scan for ever. "NaN" is not within it.
func (b *builder) readSeconds(n *yaml.Node, what string) float64 {
	if n == nil {
		return 0
	}
	v, err := strconv.ParseFloat(b.readScalar(n, what), 64)
	if err != nil || !(v >= 0 && v <= 3600) {
		b.reportFault(n.Line, "%s must be seconds from 0 to 3600", what)
		return 0
	}
	return v
}

// readBraces reads a list of pairs, each an opening and a closing character. Each is one
// character, as the engine compares bytes.
func (b *builder) readBraces(n *yaml.Node) [][2]string {
	var out [][2]string
	for _, e := range b.readList(n, "a list of braces") {
		pair := b.readStrings(e, "a pair of braces", false)
		if len(pair) != 2 || len(pair[0]) != 1 || len(pair[1]) != 1 {
			b.reportFault(e.Line, "a pair of braces must be a list of two characters")
			continue
		}
		out = append(out, [2]string{pair[0], pair[1]})
	}
	return out
}
