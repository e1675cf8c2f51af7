package hcl

import "merlon/internal/engine/sast/tree"

// resolveValues returns what the names of a configuration hold: "local.x" an entry of a
// locals block, "var.x" the default of a variable block
// (https://developer.hashicorp.com/terraform/language/values). A name that is defined
// twice has no sure value.
func resolveValues(f *tree.File) map[string]int32 {
	held := map[string]int32{}
	put := func(name string, value int32) {
		if _, twice := held[name]; twice {
			value = tree.None
		}
		held[name] = value
	}
	for block := range f.All(tree.Root, tree.RoleStatement) {
		if !f.Is(block, tree.Call) {
			continue
		}
		label, body := tree.None, tree.None
		for a := range f.All(block, tree.RoleArgument) {
			if f.Is(a, tree.Map) {
				body = a
			} else {
				label = a
			}
		}
		if body < 0 {
			continue
		}
		switch f.Text(f.Child(block, tree.RoleCallee)) {
		case "locals":
			for pair := range f.All(body, tree.RoleElement) {
				put("local."+f.Text(f.Child(pair, tree.RoleKey)), f.Child(pair, tree.RoleValue))
			}
		case "variable":
			for pair := range f.All(body, tree.RoleElement) {
				if f.Text(f.Child(pair, tree.RoleKey)) == "default" {
					put("var."+f.Text(label), f.Child(pair, tree.RoleValue))
				}
			}
		}
	}
	return held
}
