package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"go.yaml.in/yaml/v3"
)

// This file makes the functions that templates may call: those of Sprig without
// the ones that look at this machine, and Helm's own. Every function refuses
// arguments that are too large, because a few lines of a template can double a
// value without end, or put a map into itself.

// maxWeight bounds what one call of a function is given: bytes of text and
// entries of lists and maps.
// Manifests of large charts have some hundred kilobytes; etcd rejects objects above 1.5 MiB.
const maxWeight = 4 << 20

// errWeight ends a function whose arguments are too large.
var errWeight = fmt.Errorf("a value has more than %d bytes and entries, or more than %d levels", maxWeight, maxDepth)

// fixedNow is the time in every chart: a scan's result must not depend on the clock.
var fixedNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newFunctions returns what all charts can call.
func newFunctions() template.FuncMap {
	all := sprig.TxtFuncMap()
	// The environment of the scanner contains secrets, and a host name would be a DNS request
	// (CVE-2023-25165). Helm removes the first two for the same reason.
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	for name, f := range fixedFunctions {
		all[name] = f
	}
	for name, f := range boundedFunctions {
		all[name] = f
	}
	for name, f := range encodingFunctions {
		all[name] = f
	}
	for name, f := range all {
		if !shallowFunctions[name] {
			all[name] = boundArguments(f)
		}
	}
	return all
}

// shallowFunctions names functions that do not read into what they are given. Charts hand
// all of their values to them often, and to weigh those each time would cost more than the
// rest.
var shallowFunctions = map[string]bool{
	"dict": true, "list": true, "tuple": true, "get": true, "set": true, "unset": true, "hasKey": true,
	"default": true, "empty": true, "coalesce": true, "ternary": true, "all": true, "any": true,
	"kindIs": true, "kindOf": true, "typeIs": true, "typeOf": true, "typeIsLike": true, "required": true,
	"first": true, "last": true, "rest": true, "initial": true, "keys": true, "pick": true, "omit": true,
}

// fixedFunctions are functions whose result would differ from run to run, or cost much.
var fixedFunctions = template.FuncMap{
	"now":           func() time.Time { return fixedNow },
	"ago":           func(any) string { return "0s" },
	"getHostByName": func(string) string { return "" },
	"randAlphaNum":  fixedRandom,
	"randAlpha":     fixedRandom,
	"randAscii":     fixedRandom,
	"randNumeric": func(n int) (string, error) {
		s, err := fixedRandom(n)
		return strings.Repeat("0", len(s)), err
	},
	"randBytes": fixedRandom,
	"randInt":   func(low, _ int) int { return low },
	"shuffle":   func(s string) string { return s },
	"uuidv4":    func() string { return "00000000-0000-4000-8000-000000000000" },
	// Password hashes are slow on purpose: a loop of them would take the time of the scan.
	"bcrypt":         func(string) string { return "bcrypt" },
	"htpasswd":       func(user, _ string) string { return user + ":htpasswd" },
	"derivePassword": func(uint32, string, string, string, string) string { return "derived" },
	"genPrivateKey":  func(string) string { return "generated" },
	"encryptAES":     func(_, text string) string { return text },
	"decryptAES":     func(_, text string) string { return text },

	"buildCustomCert":          func(cert, key string) certificate { return certificate{cert, key} },
	"genCA":                    func(...any) certificate { return generatedCert },
	"genCAWithKey":             func(...any) certificate { return generatedCert },
	"genSelfSignedCert":        func(...any) certificate { return generatedCert },
	"genSelfSignedCertWithKey": func(...any) certificate { return generatedCert },
	"genSignedCert":            func(...any) certificate { return generatedCert },
	"genSignedCertWithKey":     func(...any) certificate { return generatedCert },

	// There is no cluster: https://helm.sh/docs/chart_template_guide/functions_and_pipelines/#using-the-lookup-function
	"lookup": func(string, string, string, string) map[string]any { return map[string]any{} },
}

// A certificate has the fields that templates read of a generated one.
type certificate struct{ Cert, Key string }

// generatedCert stands for each certificate and key that a chart makes.
var generatedCert = certificate{"generated", "generated"}

// fixedRandom stands for random text.
func fixedRandom(n int) (string, error) {
	if n < 0 || n > 10_000 {
		return "", fmt.Errorf("%d random characters", n)
	}
	return strings.Repeat("x", n), nil
}

// boundedFunctions are functions whose result can be far larger than their arguments.
var boundedFunctions = template.FuncMap{
	"repeat": func(n int, s string) (string, error) {
		// n is compared alone first, so that the product cannot overflow.
		if n < 0 || n > maxWeight || n*len(s) > maxWeight {
			return "", errWeight
		}
		return strings.Repeat(s, n), nil
	},
	"indent":  indentText,
	"nindent": func(n int, s string) (string, error) { s, err := indentText(n, s); return "\n" + s, err },
	"replace": func(from, to, s string) (string, error) {
		if (strings.Count(s, from)+1)*(len(to)+1) > maxWeight {
			return "", errWeight
		}
		return strings.ReplaceAll(s, from, to), nil
	},
	"regexReplaceAll":            regexReplace((*regexp.Regexp).ReplaceAllString),
	"mustRegexReplaceAll":        regexReplace((*regexp.Regexp).ReplaceAllString),
	"regexReplaceAllLiteral":     regexReplace((*regexp.Regexp).ReplaceAllLiteralString),
	"mustRegexReplaceAllLiteral": regexReplace((*regexp.Regexp).ReplaceAllLiteralString),
	"until":                      func(n int) ([]int, error) { return countSteps(0, n, signOf(n)) },
	"untilStep":                  countSteps,
	"seq": func(n ...int) (string, error) {
		start, step := 1, 0
		var end int
		switch len(n) {
		case 1:
			end = n[0]
		case 2:
			start, end = n[0], n[1]
		case 3:
			start, step, end = n[0], n[1], n[2]
		default:
			return "", nil
		}
		if step == 0 {
			step = signOf(end - start)
		}
		list, err := countSteps(start, end+signOf(step), step)
		return strings.Trim(fmt.Sprint(list), "[]"), err
	},
	"join": func(sep string, list any) (string, error) {
		parts := textsOf(list)
		if len(parts)*(len(sep)+1) > maxWeight {
			return "", errWeight
		}
		return strings.Join(parts, sep), nil
	},
	"wrap":     func(n int, s string) string { return s },
	"wrapWith": func(n int, _, s string) string { return s },
	// Decimals of any exponent cost any memory; floats are near enough.
	"add1f": func(v any) float64 { return numberOf(v) + 1 },
	"addf":  func(v ...any) float64 { return foldNumbers(0, v, func(a, b float64) float64 { return a + b }) },
	"subf": func(a any, v ...any) float64 {
		return foldNumbers(numberOf(a), v, func(a, b float64) float64 { return a - b })
	},
	"mulf": func(a any, v ...any) float64 {
		return foldNumbers(numberOf(a), v, func(a, b float64) float64 { return a * b })
	},
	"divf": func(a any, v ...any) float64 {
		return foldNumbers(numberOf(a), v, func(a, b float64) float64 { return a / b })
	},
	// In a fixed order, unlike Sprig's.
	"keys": func(maps ...map[string]any) []string {
		out := []string{}
		for _, m := range maps {
			out = append(out, sortedKeys(m)...)
		}
		return out
	},
	"values": func(m map[string]any) []any {
		out := []any{}
		for _, k := range sortedKeys(m) {
			out = append(out, m[k])
		}
		return out
	},
	// Values have whole numbers where Helm has floats; a chart may ask for either.
	"kindIs": func(want string, v any) bool { return isKind(want, v) },
	"typeIs": func(want string, v any) bool { return isKind(want, v) || want == fmt.Sprintf("%T", v) },
	// These stand for text/template's own, to be guarded as all others are.
	"print":   fmt.Sprint,
	"printf":  fmt.Sprintf,
	"println": fmt.Sprintln,
	"html":    template.HTMLEscaper,
	"js":      template.JSEscaper,
	"urlquery": func(v ...any) string {
		return template.URLQueryEscaper(v...)
	},
	// Every action ends with it: what it prints is not too large, and nothing
	// prints nothing (Helm takes "<no value>" away afterwards).
	"out": func(v any) any {
		if v == nil {
			return ""
		}
		return v
	},
}

// isKind compares the kind of a value; whole numbers are of each kind of number.
func isKind(want string, v any) bool {
	kind := "invalid"
	if v != nil {
		kind = reflect.TypeOf(v).Kind().String()
	}
	return want == kind || kind == "int64" && (want == "float64" || want == "int")
}

// signOf returns -1 or 1.
func signOf(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// countSteps counts from start to before end.
func countSteps(start, end, step int) ([]int, error) {
	out := []int{}
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		if len(out) == 10_000 {
			return nil, errors.New("a list of more than 10000 numbers")
		}
		out = append(out, i)
	}
	return out, nil
}

// indentText indents the lines of a text, within limits.
func indentText(n int, s string) (string, error) {
	if n < 0 || n > 1000 {
		return "", fmt.Errorf("indent by %d", n)
	}
	pad := strings.Repeat(" ", n)
	if (strings.Count(s, "\n")+1)*n > maxWeight {
		return "", errWeight
	}
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// regexReplace makes a template's function of one that replaces matches, and bounds what it
// writes.
func regexReplace(f func(*regexp.Regexp, string, string) string) func(pattern, s, to string) (string, error) {
	return func(pattern, s, to string) (string, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return "", fmt.Errorf("regular expression: %w", err)
		}
		// A match can put itself into the replacement for each "$" there.
		if (len(s)+1)*(len(to)+1) > 16*maxWeight {
			return "", errWeight
		}
		return f(re, s, to), nil
	}
}

// textsOf returns the texts of a list of any type.
func textsOf(list any) []string {
	v := reflect.ValueOf(list)
	if !v.IsValid() {
		return nil
	}
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return []string{fmt.Sprint(list)}
	}
	var out []string
	for i := range v.Len() {
		if e := v.Index(i).Interface(); e != nil {
			out = append(out, fmt.Sprint(e))
		}
	}
	return out
}

// numberOf returns a value as a number, 0 for what is none, as Sprig does.
func numberOf(v any) float64 {
	var f float64
	if _, err := fmt.Sscan(fmt.Sprint(v), &f); err != nil {
		return 0 // as Sprig does with what is no number
	}
	return f
}

// foldNumbers combines numbers from the left.
func foldNumbers(a float64, list []any, f func(a, b float64) float64) float64 {
	for _, v := range list {
		a = f(a, numberOf(v))
	}
	return a
}

// encodingFunctions are Helm's functions for YAML, JSON and TOML. As in Helm, a value that
// cannot be written is the empty text, and text that cannot be read is a map with the key
// "Error".
var encodingFunctions = template.FuncMap{
	"toYaml":     toYAML,
	"mustToYaml": toYAML,
	"toYamlPretty": func(v any) string {
		return toYAML(v)
	},
	"fromYaml": func(s string) map[string]any {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(s), &m); err != nil {
			return map[string]any{"Error": err.Error()}
		}
		if m = plainMap(m); m == nil {
			return map[string]any{}
		}
		return m
	},
	"fromYamlArray": func(s string) []any {
		var list []any
		if err := yaml.Unmarshal([]byte(s), &list); err != nil {
			return []any{err.Error()}
		}
		out, _ := plainValue(list, 0).([]any)
		return out
	},
	"fromJsonArray": func(s string) []any {
		var list []any
		if err := json.Unmarshal([]byte(s), &list); err != nil {
			return []any{err.Error()}
		}
		return list
	},
	"fromJson": func(s string) map[string]any {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(s), &m); err != nil {
			return map[string]any{"Error": err.Error()}
		}
		return m
	},
	"toToml": func(v any) string {
		var b bytes.Buffer
		if err := toml.NewEncoder(&b).Encode(v); err != nil {
			return err.Error()
		}
		return b.String()
	},
	"fromToml": func(s string) map[string]any {
		m := map[string]any{}
		if _, err := toml.Decode(s, &m); err != nil {
			return map[string]any{"Error": err.Error()}
		}
		return m
	},
}

// toYAML writes a value as YAML without the last line's end; "" for one that cannot be written.
func toYAML(v any) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// boundArguments wraps a function so that it refuses arguments that are too large.
func boundArguments(f any) any {
	v := reflect.ValueOf(f)
	t := v.Type()
	in := make([]reflect.Type, t.NumIn())
	for i := range in {
		in[i] = t.In(i)
	}
	// Functions of templates return a value, or a value and an error. The wrapped one always has
	// both.
	fails := t.NumOut() == 2
	out := []reflect.Type{t.Out(0), reflect.TypeFor[error]()}
	return reflect.MakeFunc(reflect.FuncOf(in, out, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		left := maxWeight
		for _, a := range args {
			if left = remainingWeight(a, left, 0); left < 0 {
				return []reflect.Value{reflect.Zero(out[0]), reflect.ValueOf(&errWeight).Elem()}
			}
		}
		var results []reflect.Value
		if t.IsVariadic() {
			results = v.CallSlice(args)
		} else {
			results = v.Call(args)
		}
		if !fails {
			results = append(results, reflect.Zero(out[1]))
		}
		return results
	}).Interface()
}

// remainingWeight returns what is left of the weight without the value; below zero nothing
// is.
func remainingWeight(v reflect.Value, left, depth int) int {
	// A map that contains itself, as set $m "self" $m makes it, ends here.
	if depth > maxDepth {
		return -1
	}
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return left - v.Len()
	case reflect.Slice, reflect.Array:
		// Bytes are weighed by their number, without a visit of each.
		if left -= v.Len(); left < 0 || v.Type().Elem().Kind() == reflect.Uint8 {
			return left
		}
		for i := 0; i < v.Len() && left >= 0; i++ {
			left = remainingWeight(v.Index(i), left, depth+1)
		}
	case reflect.Map:
		left -= v.Len()
		for it := v.MapRange(); left >= 0 && it.Next(); {
			left = remainingWeight(it.Value(), remainingWeight(it.Key(), left, depth+1), depth+1)
		}
	}
	return left
}
