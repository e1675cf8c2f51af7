package terraform

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// This file writes the policy that the data source aws_iam_policy_document makes,
// in the form that IAM reads
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html).

// policyDocument returns the attribute json of the data source. What is not known
// in it stands as a text; a document whose statements are not known is unknown.
func policyDocument(r *Resource) cty.Value {
	b := r.Body
	// A dynamic block over an unknown list: there may be statements that nobody can see.
	if b.Open["statement"] {
		return cty.UnknownVal(cty.String)
	}
	doc := map[string]any{"Version": "2012-10-17"}
	if v, ok := b.Value("version").(string); ok {
		doc["Version"] = v
	}
	if v, ok := b.Value("policy_id").(string); ok {
		doc["Id"] = v
	}
	statements := []any{}
	// The provider replaces statements of the same Sid. All are kept here, since one that is
	// replaced is rare and one that is missed would hide a right.
	for _, name := range []string{"source_policy_documents", "override_policy_documents"} {
		list, _ := b.Value(name).([]any)
		for _, item := range list {
			var other struct{ Statement []any }
			if text, ok := item.(string); ok && json.Unmarshal([]byte(text), &other) == nil {
				statements = append(statements, other.Statement...)
			}
		}
	}
	for _, s := range b.All("statement") {
		statements = append(statements, policyStatement(s))
	}
	doc["Statement"] = statements
	text, err := json.Marshal(doc)
	if err != nil {
		return cty.UnknownVal(cty.String)
	}
	v := cty.StringVal(string(text))
	// The mark says that the text contains placeholders and is no document to compare literally.
	if Symbolic(string(text)) {
		v = v.Mark(symbolicMark{})
	}
	for _, ref := range b.references() {
		v = v.Mark(refMark{ref})
	}
	return v
}

// policyStatement returns one statement in the form that IAM reads.
func policyStatement(s *Block) map[string]any {
	// The data source has no required effect: "Allow" is its default.
	out := map[string]any{"Effect": "Allow"}
	for name, to := range map[string]string{"sid": "Sid", "effect": "Effect"} {
		if v, ok := s.Value(name).(string); ok {
			out[to] = v
		}
	}
	for name, to := range map[string]string{"actions": "Action", "not_actions": "NotAction", "resources": "Resource",
		"not_resources": "NotResource"} {
		if s.Attributes[name] != nil {
			out[to] = textList(s.Value(name), name)
		}
	}
	for name, to := range map[string]string{"principals": "Principal", "not_principals": "NotPrincipal"} {
		who := map[string]any{}
		for _, p := range s.All(name) {
			kind, _ := p.Value("type").(string)
			list := textList(p.Value("identifiers"), "identifiers")
			// {"type": "*"} is everybody, which IAM writes as the text "*".
			if kind == "*" {
				out[to] = "*"
				continue
			}
			old, _ := who[kind].([]any)
			who[kind] = append(old, list...)
		}
		if _, ok := out[to]; !ok && len(who) > 0 {
			out[to] = who
		}
	}
	conditions := map[string]any{}
	for _, c := range s.All("condition") {
		test, _ := c.Value("test").(string)
		variable, _ := c.Value("variable").(string)
		// Several blocks with one operator are joined under it, as the provider does.
		inner, _ := conditions[test].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			conditions[test] = inner
		}
		inner[variable] = textList(c.Value("values"), "values")
	}
	// An unknown condition stands as an empty one: rules only ask whether there is any.
	if len(conditions) > 0 || s.Open["condition"] {
		out["Condition"] = conditions
	}
	return out
}

// textList returns a list of texts; what is not known is a placeholder.
func textList(v any, name string) []any {
	list, ok := v.([]any)
	if !ok {
		if one, ok := v.(string); ok {
			return []any{one}
		}
		return []any{"${" + name + "}"}
	}
	out := make([]any, 0, len(list))
	for _, e := range list {
		if text, ok := e.(string); ok {
			out = append(out, text)
		} else {
			out = append(out, "${"+name+"}")
		}
	}
	return out
}
