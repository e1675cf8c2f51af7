package rules

import (
	"merlon/internal/engine/sast/rule"
	"merlon/internal/errs"
)

// Load reads a user's rules: a file, or every rule file below a folder, as
// rule.Parser does. Faults are one error (errs.Invalid) that names each with its file
// and line; so is a place without any rule.
func Load(path string) ([]*rule.Rule, error) {
	found, err := rule.Parser{}.Load(path)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%v", err)
	}
	if len(found) == 0 {
		return nil, errs.E(errs.Invalid, "rules: there is no rule in %s", path)
	}
	return found, nil
}
