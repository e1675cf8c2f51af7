package terraform

import (
	"encoding/json"
	"io/fs"
	"path"
)

// This file finds modules that Terraform has fetched before, in .terraform/modules
// beside the root module. Its manifest is described in Terraform's source,
// internal/modsdir.

// manifest is .terraform/modules/modules.json.
type manifest struct {
	Modules []struct {
		Key string // "network.subnets": the names of the calls
		Dir string // relative to the root module
	}
}

// installedModule returns the folder of the tree into which "terraform init" fetched the
// called module, or "".
func (l *loader) installedModule(m *Module, b *block) string {
	name := path.Join(m.Root.Dir, ".terraform/modules/modules.json")
	if !l.names[name] {
		return ""
	}
	text, err := fs.ReadFile(l.fs, name)
	if err != nil {
		return ""
	}
	var list manifest
	if err := json.Unmarshal(text, &list); err != nil {
		l.report(Problem{Code: "malformed", Path: name, Message: "the list of installed modules cannot be read"})
		return ""
	}
	key := ""
	for _, c := range m.Calls {
		key += c.Name + "."
	}
	key += b.labels[0]
	for _, one := range list.Modules {
		if one.Key == key {
			return path.Join(m.Root.Dir, one.Dir)
		}
	}
	return ""
}
