package frame

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/survey"
	"merlon/internal/engine/sast/taint/syncmap"
	"merlon/internal/engine/sast/taint/taintset"
)

// Prepare looks at the program as a whole.
func (r *Run) Prepare(units [][]*ir.Function) error {
	r.UnitOf = map[*ir.Function][]*ir.Function{}
	for _, unit := range units {
		for _, fn := range unit {
			r.UnitOf[fn] = unit
			if name := fn.File.Lang.Name; r.Sets[name] == nil {
				set, err := r.JoinModels(name)
				if err != nil {
					return err
				}
				r.Sets[name] = set
			}
		}
	}
	if r.HasPlaces {
		r.FindMarks(units)
	}
	r.Scan(units) // a constant that a rule marks is none
	return nil
}

// NoteConstantMatch notes expressions that a constant text is matched with.
func (r *Run) NoteConstantMatch(with taintset.Set) {
	for i := range with {
		r.MatchedWithConstant.LoadOrStore(with[i].Origin, true)
	}
}

// A Run is one analysis of a program: what all functions share.
type Run struct {
	*survey.Survey
	Properties map[string]string // what the configuration files of the program say, by key
	Done       <-chan struct{}   // closed when the analysis is to end
	UnitOf     map[*ir.Function][]*ir.Function

	MatchedWithConstant syncmap.Map[*taintset.Origin, bool] // expressions that constant texts are matched with
	Settled             syncmap.Map[*ir.Function, []survey.Place]
}

// IsStopped reports whether the analysis is to end.
func (r *Run) IsStopped() bool {
	select {
	case <-r.Done:
		return true
	default:
		return false
	}
}
