package sast

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"merlon/internal/engine/sast/cache"
	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/taint/rulematch"
)

// This file has data followed through the files together, and keeps what came of it
// for a scan in which none of them has changed.

// checkProgram returns what the taint rules say of the files. The result is kept as a whole: one
// changed file can change any flow.
func (s *Set) checkProgram(ctx context.Context, files []*checked, o Options) ruleResults {
	files = slices.DeleteFunc(slices.Clone(files), func(c *checked) bool { return c.seen == nil && c.lowered == nil })
	if o.Cache == nil {
		return s.followFiles(ctx, files, o)
	}
	key := programKey(files, o)
	if b := o.Cache.Get(key); b != nil {
		sizes := map[string]int{}
		for _, c := range files {
			sizes[c.src.Path] = len(c.src.Text)
		}
		r := cache.NewReader(b)
		if out := s.decodeResults(r, sizes); r.End() == nil {
			return out
		}
		o.Cache.Drop(key)
	}
	out := s.followFiles(ctx, files, o)
	w := &cache.Writer{}
	if s.encodeResults(w, out) && ctx.Err() == nil {
		o.Cache.Put(key, w.Bytes)
	}
	return out
}

// programKey returns the key of what is said of the files together: it is made of all
// that data flow looks at, besides the program and the rules.
func programKey(files []*checked, o Options) cache.Key {
	keys := make([][]byte, 0, len(files))
	for _, c := range files {
		keys = append(keys, c.key[:])
	}
	slices.SortFunc(keys, slices.Compare)
	parts := append([][]byte{[]byte("program"), fmt.Append(nil, o.Local)}, keys...)
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		parts = append(parts, []byte(name), []byte(o.Properties[name]))
	}
	for _, m := range o.Modules {
		parts = append(parts, []byte(m.Path), []byte(m.Folder))
	}
	return cache.NewKey(parts...)
}

// followFiles follows data through the files. The remaining files are lowered first, in parallel.
// Those that the cache answered for have no form yet, and the analysis needs all of them.
func (s *Set) followFiles(ctx context.Context, files []*checked, o Options) ruleResults {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(o.Workers, len(files)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if files[i].seen != nil {
					files[i].lowerFile(ctx, s)
				}
			}
		})
	}
	wait.Wait()
	var out ruleResults
	if err := ctx.Err(); err != nil {
		out.problems = []Problem{{Err: fmt.Errorf("following data: %w", err)}}
		return out
	}
	var lowered []*ir.File
	places := make([]map[string]*rulematch.Places, len(s.taint))
	for _, c := range files {
		out.problems = append(out.problems, c.lower...)
		lowered = append(lowered, c.lowered)
		for k, p := range c.places {
			if places[k] == nil {
				places[k] = map[string]*rulematch.Places{}
			}
			places[k][c.src.Path] = p
		}
	}
	m, p := s.withPlaces(places).followPrograms(ctx, lowered, o)
	out.matches, out.problems = m, append(out.problems, p...)
	return out
}
