package frame

import (
	"merlon/internal/engine/sast/taint/taintset"
	"merlon/internal/engine/sast/taint/value"
)

// A State is what is known at a point of a function.
type State struct {
	Vars []*value.Value
	Heap []*value.Object // by objID; shorter than the table: the rest is untouched

	Control taintset.Set // of the fact that the point is reached

	Approved []ApprovedPath // members that guards have approved of; never changed in place
}

// Object returns the state of an object, nil when nothing was written to it.
func (s *State) Object(id value.ObjectID) *value.Object {
	if int(id) < len(s.Heap) {
		return s.Heap[id]
	}
	return nil
}

// Put replaces the state of an object.
func (s *State) Put(id value.ObjectID, o *value.Object) {
	if int(id) >= len(s.Heap) {
		s.Heap = append(s.Heap, make([]*value.Object, int(id)+1-len(s.Heap))...)
	}
	s.Heap[id] = o
}
