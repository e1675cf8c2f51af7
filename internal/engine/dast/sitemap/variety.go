package sitemap

import (
	"slices"

	"merlon/internal/engine/dast/message"
)

const (
	// maxVariants bounds the operations of one path and page that have the parameters of
	// others together.
	maxVariants = 12
	// maxVarieties bounds all operations of one path and page.
	maxVarieties = 150
)

// Variants bound the operations of one path and page (Page), which differ in the names
// of their parameters. Where each parameter is another function, all are taken; where
// links put the same few together in every way, as those that sort, filter or go on do,
// a dozen are. The zero value has seen none. They are not safe for concurrent use.
type Variants struct {
	of map[string]*variety // by method, path and page
}

// A variety is what the operations of one path and page have.
type variety struct {
	names map[string]bool // of their parameters
	all   int
	known int // those without a parameter that was new
}

// Take reports whether there is room for the operation of the request, which has not
// been taken before, and counts it; and whether each of its parameters has been taken with
// others, so that nothing of the page is missed without it.
func (v *Variants) Take(r *message.Request) (taken, covered bool) {
	key := r.Method + " " + r.Base() + PathShape(r) + " " + PageKey(r)
	if v.of == nil {
		v.of = map[string]*variety{}
	}
	known := v.of[key]
	if known == nil {
		known = &variety{names: map[string]bool{}}
		v.of[key] = known
	}
	list := slices.Concat(parameterNames(r.Query), parameterNames(r.Body.Params))
	covered = known.all > 0 && !slices.ContainsFunc(list, func(name string) bool { return !known.names[name] })
	if known.all >= maxVarieties || covered && known.known >= maxVariants {
		return false, covered
	}
	known.all++
	if covered {
		known.known++
	}
	for _, name := range list {
		known.names[name] = true
	}
	return true, covered
}
