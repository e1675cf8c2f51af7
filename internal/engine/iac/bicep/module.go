package bicep

import (
	"path"
	"strings"

	"merlon/internal/engine/iac/document"
)

// This file finds the modules that a file deploys with what it gives them, and the file
// that a .bicepparam gives values to.

// isSecure reports whether a parameter holds a secret.
func (d *declaration) isSecure() bool {
	for _, e := range d.decorators {
		if e.name == "secure" {
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(d.kind), "secure")
}

// addModule records a module, or the file of parameters' own. One that is not part of the
// tree has no path.
func (c *converter) addModule(d *declaration, all []*declaration) {
	use := document.Deployment{Name: d.name.text, Line: d.line, Given: map[string]any{}}
	if kind := d.kind; kind != "" && kind != "none" && !strings.Contains(kind, ":") {
		use.Path = path.Join(path.Dir(c.path), kind)
	}
	if d.word == "using" {
		if use.Path == "" {
			return
		}
		use.Name = strings.TrimSuffix(path.Base(use.Path), path.Ext(use.Path))
		for _, p := range all {
			if p.word == "param" {
				c.setParameter(use.Given, p.name.text, p.value)
			}
		}
		c.deploys = append(c.deploys, use)
		return
	}
	body := d.value
	if body != nil && body.what == loop {
		c.forEachItem(body, func() { c.addUse(use, body.items[1]) })
		return
	}
	c.addUse(use, body)
}

// addUse adds one use of a module with the values of its parameters.
func (c *converter) addUse(use document.Deployment, body *expr) {
	use.Given = map[string]any{}
	if body != nil && body.what == object {
		for _, f := range body.fields {
			if f.key.value != "params" || f.value == nil || f.value.what != object {
				continue
			}
			for _, p := range f.value.fields {
				if name, ok := p.key.value.(string); ok {
					c.setParameter(use.Given, name, p.value)
				}
			}
		}
	}
	if len(c.deploys) < maxUses {
		c.deploys = append(c.deploys, use)
	}
}

// maxUses bounds the modules of one file.
const maxUses = 1000

// setParameter sets a parameter to the value of the expression; Unknown where it is not
// known before the deployment.
func (c *converter) setParameter(to map[string]any, name string, e *expr) {
	v, ok := c.evaluate(e)
	if !ok {
		v = document.Unknown{}
	}
	to[name] = v
}
