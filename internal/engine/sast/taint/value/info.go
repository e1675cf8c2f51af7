package value

import (
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/taintset"
)

// An ObjectInfo says what an object is, for as long as its function is analysed.
type ObjectInfo struct {
	Key      ObjectKey
	Input    *taintset.Origin // the input that it is, or nil for one made in the function
	Type     string           // the class of one that the function made
	Kind     Kind
	Function *ir.Function // of a function value
	// Complete: every field it has was written by the program; a missing one is not there.
	Complete bool
	// KeepsIn names the global in which such a function keeps what it is given.
	KeepsIn string
	// Promisified: it is called like the function in its part content, but answers a promise of
	// what that function calls back with.
	Promisified bool
	// NoPrototype: it inherits nothing.
	NoPrototype bool
	// HasAccessors: it has functions that run when a member is read or written.
	HasAccessors bool
	// DefaultsToList: it is a map that makes a collection for a key that is missing.
	DefaultsToList bool
	// Allocated is where the program makes the object, and depth by how many calls it came
	// from there.
	Allocated AllocationSite
	Depth     int
	// Collector: a function of a library that keeps what it is called with, for others
	// to take: its elements.
	Collector bool

	LastWalk int64        // the last walk that looked at it
	Deep     taintset.Set // of an input with all of its parts, once somebody asks
}

// A AllocationSite is the place where an object is made.
type AllocationSite struct {
	Function    *ir.Function
	Instruction int32
	Sub         int32
}

// An ObjectKey identifies an object: an input, or what an instruction makes.
type ObjectKey struct {
	Input       *taintset.Origin
	Instruction int32
	From        *ir.Function // whose object was brought by a call
	ID          ObjectID
	Sub         int32
}

// An ObjectID names an abstract object within the analysis of one function.
type ObjectID int32
