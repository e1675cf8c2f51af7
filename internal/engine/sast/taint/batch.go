package taint

import (
	"fmt"

	"merlon/internal/engine/sast/model"
)

// This file divides rules into runs. One run answers all rules that ask only for
// models: the bits of a word tell apart for which kinds of sinks data is clean. Rules
// that have places of their own have a bit each.

// The bits that no kind of sinks and no rule has.
const (
	startBit = 1 << 62
	hostBit  = 1 << 63
	maxBits  = 62
)

// A batch is the rules that one run answers.
type batch struct {
	rules  []*Rule
	kinds  []string // of the models; nil without models
	models bool
	marked bool // the rules have places of their own
	local  bool
}

// divide divides rules into batches, in their order.
func divide(models []*model.Model, rules []*Rule) ([]*batch, error) {
	kinds, err := model.Kinds(models)
	if err != nil {
		return nil, err
	}
	var modelled, mixed, whole, local []*Rule
	for _, r := range rules {
		interfile := r.Rule.Options.Interfile
		switch {
		case !r.mentions():
			modelled = append(modelled, r)
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
		room := maxBits - len(kinds)
		if room < 1 {
			return nil, fmt.Errorf("the models have %d kinds of sinks: no room for rules", len(kinds))
		}
		n := min(room, len(mixed))
		out = append(out, &batch{rules: mixed[:n], kinds: kinds, models: true, marked: true})
		mixed = mixed[n:]
	}
	for len(whole) > 0 {
		n := min(maxBits, len(whole))
		out = append(out, &batch{rules: whole[:n], marked: true})
		whole = whole[n:]
	}
	for len(local) > 0 {
		n := min(maxBits, len(local))
		out = append(out, &batch{rules: local[:n], marked: true, local: true})
		local = local[n:]
	}
	return out, nil
}

// run returns a run for the batch.
func (b *batch) run(p Program, models []*model.Model, o Options) *run {
	r := &run{program: p, options: o, sets: map[string]*model.Set{}, bits: map[string]uint64{},
		startBit: startBit, hostBit: hostBit, marked: b.marked, plain: !b.models, local: b.local}
	if b.models {
		r.models = models
	}
	for i, k := range b.kinds {
		r.bits[k] = 1 << i
	}
	r.bits[model.PathStatus] = r.bits[model.Path]
	r.inheritedBit, r.keyBits = r.bits[model.Inherited], r.bits[model.Prototype]|r.bits[model.OwnKey]
	if !b.marked {
		return r
	}
	r.rules = b.rules
	for k, rl := range b.rules {
		bit := uint64(1) << (len(b.kinds) + k)
		r.ruleBits = append(r.ruleBits, bit)
		r.allRules |= bit
		o := &rl.Rule.Options
		for _, option := range []struct {
			on   bool
			bits *uint64
		}{
			{o.TaintAssumeSafeFunctions, &r.safeCalls}, {o.TaintAssumeSafeIndexes, &r.safeIndexes},
			{o.TaintAssumeSafeComparisons, &r.safeComparisons}, {o.TaintOnlyPropagateThroughAssigning, &r.assignOnly},
			{o.TaintAssumeSafeBooleans || o.TaintAssumeSafeNumbers, &r.safePrimitives},
		} {
			if option.on {
				*option.bits |= bit
			}
		}
	}
	return r
}
