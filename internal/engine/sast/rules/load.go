package rules

import (
	"fmt"
	"sync"

	"merlon/internal/engine/sast/frameworks"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/rule"
	"merlon/internal/errs"
)

// Parser returns the reader of rules for this build: a rule that asks for a kind of
// which no model speaks would find nothing, and has a fault. An error is a fault of
// the build.
func Parser() (rule.Parser, error) { return parser() }

var parser = sync.OnceValues(func() (rule.Parser, error) {
	models, err := frameworks.Models()
	if err != nil {
		return rule.Parser{}, fmt.Errorf("models: %w", err)
	}
	return rule.Parser{KnownSource: model.Speaks(models, model.Sources), KnownSink: model.Speaks(models, model.Sinks)},
		nil
})

// Load reads a user's rules: a file, or every rule file below a folder, as
// rule.Parser does. Faults are one error (errs.Invalid) that names each with its file
// and line; so is a place without any rule.
func Load(path string) ([]*rule.Rule, error) {
	p, err := Parser()
	if err != nil {
		return nil, err
	}
	found, err := p.Load(path)
	if err != nil {
		return nil, errs.E(errs.Invalid, "%v", err)
	}
	if len(found) == 0 {
		return nil, errs.E(errs.Invalid, "rules: there is no rule in %s", path)
	}
	return found, nil
}
