package taint

import (
	"fmt"

	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/rulematch"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/taintset"
)

// This file divides rules into runs. One run covers all rules that ask only for models:
// the bits of a word tell for which kinds of sinks data is sanitized. Rules that have
// patterns of their own have a bit each.
//
// A word has 64 bits. With more rules than bits the program is analyzed several times, once
// per batch; the costs grow with the number of batches and not of rules.

// A batch is the rules that one run answers.
// Its runs share the program and the models, but no summaries: these depend on the bits.
type batch struct {
	// In the order of the rule files; the index is the number of the rule in taint.
	rules []*rulematch.Rule
	kinds []string // of the models; nil without models
	// Built-in models apply: sources, sinks and flows of libraries.
	models bool
	marked bool // the rules have places of their own
	// Functions of the program are not followed, as in Semgrep's rules without interfile.
	local bool
}

// divideIntoBatches divides rules into batches, in their order.
func divideIntoBatches(models []*model.Model, rules []*rulematch.Rule) ([]*batch, error) {
	kinds, err := model.Kinds(models)
	if err != nil {
		return nil, err
	}
	// Four groups: rules on models only, rules that extend models, rules with their own patterns
	// for the whole program, and those for a single function.
	var modelled, mixed, whole, local []*rulematch.Rule
	for _, r := range rules {
		interfile := r.Rule.Options.Interfile
		switch {
		case !r.HasPatterns():
			modelled = append(modelled, r)
		// A rule whose patterns match nowhere in the program needs no run.
		case len(r.Places) == 0:
		case r.Rule.Taint.Model != nil:
			mixed = append(mixed, r)
		case interfile != nil && !*interfile && !r.Rule.Options.Intrafile:
			local = append(local, r)
		default:
			whole = append(whole, r)
		}
	}
	var out []*batch
	if len(modelled) > 0 {
		out = append(out, &batch{rules: modelled, kinds: kinds, models: true})
	}
	for len(mixed) > 0 {
		// Rules that extend models share the word with the kinds of the models.
		room := modelindex.MaxBits - len(kinds)
		if room < 1 {
			return nil, fmt.Errorf("the models have %d kinds of sinks: no room for rules", len(kinds))
		}
		n := min(room, len(mixed))
		out = append(out, &batch{rules: mixed[:n], kinds: kinds, models: true, marked: true})
		mixed = mixed[n:]
	}
	for len(whole) > 0 {
		n := min(modelindex.MaxBits, len(whole))
		out = append(out, &batch{rules: whole[:n], marked: true})
		whole = whole[n:]
	}
	for len(local) > 0 {
		n := min(modelindex.MaxBits, len(local))
		out = append(out, &batch{rules: local[:n], marked: true, local: true})
		local = local[n:]
	}
	return out, nil
}

// newRun returns a run for the batch.
func (b *batch) newRun(p modelindex.Program, models []*model.Model, o Options) *frame.Run {
	x := &modelindex.Index{Origins: &taintset.Origins{}, Program: p, Sets: map[string]*model.Set{},
		Bits:     map[string]uint64{},
		StartBit: modelindex.StartBit, HostBit: modelindex.HostBit, Plain: !b.models, Local: b.local}
	if b.models {
		x.Models, x.LoadSet = models, o.Set
	}
	r := &frame.Run{Survey: &survey.Survey{Index: x, Set: &rulematch.Set{HasPlaces: b.marked}},
		Properties: o.Properties}
	// The kinds come first, then the rules.
	for i, k := range b.kinds {
		r.Bits[k] = 1 << i
	}
	// A status of a path (exists, is a file) is sanitized by whatever sanitizes the path.
	r.Bits[model.PathStatus] = r.Bits[model.Path]
	r.InheritedBit, r.KeyBits = r.Bits[model.Inherited], r.Bits[model.Prototype]|r.Bits[model.OwnKey]
	if !b.marked {
		return r
	}
	r.Rules = b.rules
	for k, rl := range b.rules {
		bit := uint64(1) << (len(b.kinds) + k)
		r.RuleBits = append(r.RuleBits, bit)
		r.AllRules |= bit
		// Options of a rule become bits, so that an operator clears the taint of all rules with
		// the option in one operation.
		o := &rl.Rule.Options
		for _, option := range []struct {
			on   bool
			bits *uint64
		}{
			{o.TaintAssumeSafeFunctions, &r.SafeCalls}, {o.TaintAssumeSafeIndexes, &r.SafeIndexes},
			{o.TaintAssumeSafeComparisons, &r.SafeComparisons}, {o.TaintOnlyPropagateThroughAssigning, &r.AssignOnly},
			{o.TaintAssumeSafeBooleans || o.TaintAssumeSafeNumbers, &r.SafePrimitives},
		} {
			if option.on {
				*option.bits |= bit
			}
		}
	}
	return r
}
