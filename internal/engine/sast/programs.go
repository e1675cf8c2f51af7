package sast

import (
	"sync"

	"merlon/internal/engine/sast/lang"
	"merlon/internal/engine/sast/pattern"
	"merlon/internal/engine/sast/rule"
)

// Programs keeps what the search rules of a process compile to. Parsing the patterns of all rules
// is a third of the check of a small project, which a process that checks many small projects
// with the same rules saves. The zero value is empty. It is safe for concurrent use.
type Programs struct {
	mu    sync.Mutex
	known map[searchKey]*pattern.Program
}

// A searchKey tells programs apart. A rule is known by its address: rules do not change once
// they are read.
type searchKey struct {
	rule     *rule.Rule
	language *lang.Language // nil for text
}

// compileSearch compiles the formula of a search rule, or returns what it was compiled to before.
// A rule with an error is compiled each time, for its message.
func (p *Programs) compileSearch(r *rule.Rule, setting pattern.Setting) (*pattern.Program, error) {
	if p == nil {
		return pattern.Compile(r.Search, setting)
	}
	key := searchKey{r, setting.Language}
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[key]; known != nil {
		return known, nil
	}
	program, err := pattern.Compile(r.Search, setting)
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = map[searchKey]*pattern.Program{}
	}
	p.known[key] = program
	return program, nil
}
