package template

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"merlon/internal/engine/iac/bicep"
	"merlon/internal/engine/iac/document"
	"merlon/internal/lazyregexp"
)

// This file evaluates the JSON templates of Azure: parameters, variables and the
// expressions between brackets whose parts are all known, in nested templates too.
// See https://learn.microsoft.com/azure/azure-resource-manager/templates/template-expressions.

// A deployment is a template under evaluation.
type deployment struct {
	// the declared parameters, with type and default
	params map[string]any
	// the declared variables, evaluated on demand
	variables map[string]any
	// values of parameters from outside; document.Unknown{} for one that is not known
	given map[string]any
	open  map[string]bool // variables that are being asked
	loops []turn          // the innermost last
	// values so far, at most maxMade
	made  int
	depth int
}

// evaluateDeployment returns the tree with its resources evaluated, and the linked
// templates of the tree.
func evaluateDeployment(tree document.Tree, file string, given map[string]any, source Source) Result {
	// A file of parameters deploys nothing itself: it gives values to the template beside it.
	if schema, _ := tree.Root["$schema"].(string); strings.Contains(strings.ToLower(schema), "deploymentparameters") {
		return Result{Tree: document.Tree{Root: map[string]any{"$schema": schema}, Lines: tree.Lines},
			Deploys: parameterFile(tree, file, source)}
	}
	if tree.Root["$schema"] == nil {
		return Result{Tree: tree} // Bicep's are evaluated by its own reader
	}
	d := newDeployment(tree.Root, given)
	out := document.Tree{Root: maps.Clone(tree.Root), Lines: tree.Lines}
	if at := fieldNode(tree.Lines, "resources"); at != nil {
		lines := *tree.Lines
		lines.Fields = maps.Clone(tree.Lines.Fields)
		out.Root["resources"], lines.Fields["resources"] = d.evaluateValue(tree.Root["resources"], at)
		out.Lines = &lines
	}
	if len(given) > 0 {
		out.Root["parameters"] = d.withGiven()
	}
	deploys, gaps := d.linkedTemplates(out, file, source)
	return Result{Tree: out, Deploys: deploys, Gaps: gaps}
}

// newDeployment returns the evaluation of a template with the values of its parameters.
func newDeployment(root map[string]any, given map[string]any) *deployment {
	d := &deployment{given: given, open: map[string]bool{}}
	d.params, _ = root["parameters"].(map[string]any)
	d.variables, _ = root["variables"].(map[string]any)
	return d
}

// withGiven returns the parameters with what was given as their defaults: rules look
// for these.
func (d *deployment) withGiven() map[string]any {
	out := maps.Clone(d.params)
	for name, v := range d.given {
		p, ok := out[name].(map[string]any)
		if !ok {
			continue
		}
		p = maps.Clone(p)
		if p["defaultValue"] = v; v == (any)(document.Unknown{}) {
			delete(p, "defaultValue")
		}
		out[name] = p
	}
	return out
}

// Parameter returns the value of a parameter: what was given, else a default. Secrets
// are left to the rules about parameters.
func (d *deployment) Parameter(name string) (any, bool) {
	p, _ := d.params[name].(map[string]any)
	kind, _ := p["type"].(string)
	// securestring and secureObject
	if p == nil || strings.HasPrefix(strings.ToLower(kind), "secure") || secretName.MatchString(name) {
		return nil, false
	}
	v, ok := d.given[name]
	if !ok {
		v, ok = p["defaultValue"]
	}
	if _, unknown := v.(document.Unknown); !ok || unknown || v == "" {
		return nil, false
	}
	return d.computeWhole(v)
}

// Variable returns the value of a variable.
func (d *deployment) Variable(name string) (any, bool) {
	v, ok := d.variables[name]
	// A variable that refers to itself.
	if d.open[name] {
		return nil, false
	}
	d.open[name] = true
	defer delete(d.open, name)
	if !ok {
		made := map[string]any{}
		ok = d.addCopies(loopNamed(d.variables["copy"], name), made) && made[name] != nil
		return made[name], ok
	}
	return d.computeWhole(v)
}

// computeWhole evaluates a value that must be known as a whole.
func (d *deployment) computeWhole(v any) (any, bool) {
	d.made++
	d.depth++
	defer func() { d.depth-- }()
	if d.made > maxMade || d.depth > document.MaxDepth {
		return nil, false
	}
	switch v := v.(type) {
	case string:
		text, ok := templateExpression(v)
		if !ok {
			// "[[" at the beginning is the escape for a text in brackets.
			return strings.Replace(v, "[[", "[", 1), true
		}
		return bicep.Compute(text, d)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			one, ok := d.computeWhole(e)
			if !ok {
				return nil, false
			}
			out[i] = one
		}
		return out, true
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			if key == "copy" {
				if !d.addCopies(e, out) {
					return nil, false
				}
				continue
			}
			one, ok := d.computeWhole(e)
			if !ok {
				return nil, false
			}
			out[key] = one
		}
		return out, true
	}
	return v, true
}

// templateExpression returns what is between the brackets of an expression.
func templateExpression(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if len(s) < 3 || s[0] != '[' || s[1] == '[' || s[len(s)-1] != ']' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// parameterValues reads {name: {"value": …}}.
func (d *deployment) parameterValues(v any) map[string]any {
	out := map[string]any{}
	params, _ := v.(map[string]any)
	for name, p := range params {
		one, _ := p.(map[string]any)
		out[name] = document.Unknown{}
		if value, ok := one["value"]; ok {
			if known, ok := d.computeWhole(value); ok {
				out[name] = known
			}
		}
	}
	return out
}

// lastText is the path at the end of a computed address.
var lastText = lazyregexp.New(`'([^']+\.json)'\s*\)*\s*$`)

// linkedTemplates finds the linked templates that are files of the tree.
func (d *deployment) linkedTemplates(tree document.Tree, file string,
	source Source) (out []document.Deployment, gaps []document.Gap) {
	resources, _ := tree.Root["resources"].([]any)
	for i, one := range resources {
		r, _ := one.(map[string]any)
		properties, _ := r["properties"].(map[string]any)
		link, ok := properties["templateLink"].(map[string]any)
		if !ok {
			continue
		}
		where, _ := link["relativePath"].(string)
		if uri, ok := link["uri"].(string); ok && where == "" {
			where = uri
			if text, computed := templateExpression(uri); computed {
				// [uri(deployment().properties.templateLink.uri, 'nested/vm.json')]: the base is
				// only known when it is deployed, but the file is in the tree.
				if where = ""; lastText.MatchString(text) {
					where = "https://" + lastText.FindStringSubmatch(text)[1]
				}
			}
		}
		use := document.Deployment{Given: d.parameterValues(properties["parameters"]), Line: 1}
		use.Name, _ = r["name"].(string)
		if n := itemNode(fieldNode(tree.Lines, "resources"), i); n != nil {
			use.Line = n.Line
		}
		if use.Path, ok = findNearby(where, file, source); !ok || use.Path == file {
			gaps = append(gaps, document.Gap{
				Code: "unavailable", Path: file, Line: use.Line,
				Message: fmt.Sprintf("the linked template of %s is not analyzed: %s is not part of the tree, and "+
					"nothing is fetched", use.Name, firstNonEmpty(where, "its address is not known, or it")),
			})
			continue
		}
		out = append(out, use)
	}
	return out, gaps
}

// isPresent reports whether a file of the tree can be read.
func isPresent(source Source, name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	_, err := source(name)
	return err == nil
}

// parameterFile returns the template that a file of parameters is for: the one beside
// it whose name it has, as "azuredeploy.parameters.json" is for "azuredeploy.json".
func parameterFile(tree document.Tree, file string, source Source) []document.Deployment {
	stem, _, ok := strings.Cut(path.Base(file), ".param")
	if !ok {
		return nil
	}
	d := deployment{}
	for _, end := range []string{".json", ".bicep"} {
		name := path.Join(path.Dir(file), stem+end)
		if name != file && isPresent(source, name) {
			return []document.Deployment{{Name: stem, Path: name, Line: 1,
				Given: d.parameterValues(tree.Root["parameters"])}}
		}
	}
	return nil
}
