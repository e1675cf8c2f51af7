package sitemap

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"merlon/internal/scan"
)

// CoverageGaps are places that could not be looked at. Each is told once, however many requests
// failed there. The zero value is ready; it may be used at the same time by several.
type CoverageGaps struct {
	mu    sync.Mutex
	known map[string]*gap
	order []*gap
}

// A gap is one place.
type gap struct {
	path, first string // by which findings name it; why, the first time
	times       int
	who         []string // what wanted to look
}

// maxGaps bounds the places that are told one by one.
const maxGaps = 200

// Add takes note of something that failed at the place, which findings name by the path.
// who wanted to look; empty: nobody by name.
func (g *CoverageGaps) Add(path, who, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := g.known[path]
	if at == nil {
		if g.known == nil {
			g.known = map[string]*gap{}
		}
		at = &gap{path: path, first: why}
		g.known[path] = at
		g.order = append(g.order, at)
	}
	at.times++
	if who != "" && !slices.Contains(at.who, who) {
		at.who = append(at.who, who)
	}
}

// Take returns a reason for each place, and forgets them. Beyond says that what the places
// lead to is not known either.
func (g *CoverageGaps) Take(code string, beyond bool) []scan.Reason {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []scan.Reason
	for i, at := range g.order {
		if i == maxGaps {
			out = append(out, scan.Reason{Code: code, Message: fmt.Sprintf("so it was at %d more "+
				"addresses", len(g.order)-i)})
			break
		}
		message := at.first
		if len(at.who) > 0 {
			slices.Sort(at.who)
			message = strings.Join(at.who, ", ") + ": " + message
		}
		if at.times > 1 {
			message += fmt.Sprintf(" (and %d times more)", at.times-1)
		}
		out = append(out, scan.Reason{Code: code, Message: message, Path: at.path, Beyond: beyond})
	}
	g.known, g.order = nil, nil
	return out
}
