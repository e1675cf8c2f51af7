package redact

import (
	"reflect"
	"strings"
)

// Copy returns a deep copy of a message with every secret replaced in every text of it. A
// field keeps its text only when its type is not string itself, as those of fixed words are
// (finding.Severity), when it has no JSON form, or when it is one of the identifiers that
// are listed here: what a message gets in addition is redacted without a thought.
func Copy[T any](s *Set, message *T) *T {
	// A nil Set knows no secrets: the message itself is returned.
	if s == nil || message == nil {
		return message
	}
	// One index for the whole message, so that all of its texts are redacted by the same secrets.
	x := s.currentIndex()
	out := new(T)
	reflect.ValueOf(out).Elem().Set(x.copyValue(reflect.ValueOf(message).Elem()))
	return out
}

// identifiers are made by the program: of what they name they hold a hash, or nothing.
// The keys are TYPE.FIELD of package finding and scan. To add one, make sure that no text of the
// target can get into the field.
var identifiers = map[string]bool{
	"Fingerprint.Place": true, "Fingerprint.Flaw": true, "Finding.RuleID": true, "Finding.Analyzer": true,
	"Finding.Same": true,
	"Rule.ID":      true, "Reason.Rules": true, "Reason.Code": true, "Status.Analyzer": true, "Config.Tool": true,
	"Config.Version":   true,
	"Config.Analyzers": true, "CodeFlaw.RuleID": true, "Exchange.Duration": true, "Live.In": true,
	"Operation.Origin": true,
	"Operation.Method": true, "Live.Method": true,
}

// text is the type of strings, to convert named string types back after the replacement.
var text = reflect.TypeFor[string]()

// copyValue returns a copy of the value with every text redacted.
func (x *index) copyValue(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		// A named type, such as finding.Severity, has a fixed set of values.
		if v.Type() != text {
			return v
		}
		return reflect.ValueOf(x.replaceSecrets(v.String()))
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(x.copyValue(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(x.copyValue(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(x.copyValue(v.Index(i)))
		}
		return out
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(x.copyValue(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(x.copyValue(it.Key()), x.copyValue(it.Value()))
		}
		return out
	case reflect.Struct:
		return x.copyStruct(v)
	}
	return v
}

// copyStruct redacts the exported fields of a struct. Fields that identify something, such as
// rule IDs, and fields that never leave the process stay as they are.
func (x *index) copyStruct(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v) // fields that are not exported, such as those of a time
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || identifiers[v.Type().Name()+"."+f.Name] {
			continue
		}
		out.Field(i).Set(x.copyValue(v.Field(i)))
	}
	return out
}
