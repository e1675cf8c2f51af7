package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// proofLimit bounds one attempt to execute a script.
const proofLimit = 20 * time.Second

// lingerLimit bounds what follows an event on an element with a payload.
const lingerLimit = 1500 * time.Millisecond

// An Execution is a script of ours that ran in a page.
type Execution struct {
	Kind    string // "alert", "confirm", "prompt", or "call" of the function with the marker's name
	Text    string // of the dialog
	Address string // of the page
}

// String tells it to people.
func (e Execution) String() string {
	if e.Kind == "call" {
		return fmt.Sprintf("the script called the function %s in %s", e.Text, e.Address)
	}
	return fmt.Sprintf("the script opened the dialog %s(%q) in %s", e.Kind, e.Text, e.Address)
}

// A ScriptProbe says what is opened to prove an execution.
type ScriptProbe struct {
	As       Session          // nil: nobody
	Request  *message.Request // of the page
	Fragment string           // with its "#"; may be empty
	// Marker is what a dialog shows, or the name of a function that is called: a
	// function of this name exists in every document of the operation scan.
	Marker string
	// Then are steps after the page has loaded, such as filling in a form.
	Then []scan.BrowserStep
}

// functionName is a marker that is a name of a function.
var functionName = lazyregexp.New(`^[a-zA-Z_][a-zA-Z0-9_]{3,63}$`)

// RunProbe opens a page, lets what holds the marker and waits for a person happen, and
// returns what was executed, nothing when nothing was. A dialog counts when it shows
// the marker alone, and the request does not hold it as a whole value: a page that
// shows what it was sent in a dialog of its own executes nothing. The limit of the
// proof is no error: nothing was executed until then.
func (b *Browser) RunProbe(ctx context.Context, t ScriptProbe) ([]Execution, error) {
	var mu sync.Mutex
	var out []Execution
	var p *Page
	echoed := echoesMarker(t.Request, t.Fragment, t.Marker)
	add := func(e Execution) {
		mu.Lock()
		defer mu.Unlock()
		if p != nil {
			e.Address = p.Address()
		}
		if len(out) < 10 {
			out = append(out, e)
		}
	}
	o := PageOptions{As: t.As, Agree: true,
		Observe: func(e Event) {
			if d := e.Dialog; d != nil && d.Kind != "beforeunload" && strings.TrimSpace(d.Text) == t.Marker && !echoed {
				add(Execution{Kind: d.Kind, Text: d.Text})
			}
		},
		report: func(kind string, text json.RawMessage) {
			if kind == "call" {
				add(Execution{Kind: "call", Text: t.Marker})
			}
		}}
	if functionName.MatchString(t.Marker) {
		o.names = []string{t.Marker}
	}
	opened, err := b.Page(ctx, o)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	mu.Lock()
	p = opened
	mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	err = opened.runScriptProbe(limited, t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(out) > 0
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil // what has run until now is what runs
	}
	mu.Lock()
	defer mu.Unlock()
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// runScriptProbe opens the page of a probe, does its steps, and causes what waits for a
// person.
func (p *Page) runScriptProbe(ctx context.Context, t ScriptProbe, ran func() bool) error {
	if err := p.Send(ctx, t.Request, t.Fragment, proofLimit/2); err != nil {
		return err
	}
	for _, step := range t.Then {
		if err := p.Step(ctx, step); err != nil {
			return err
		}
	}
	if !ran() {
		p.provokeMarker(ctx, t.Marker, false, ran)
	}
	return nil
}

// provokeMarker lets what holds the marker and waits for a person happen, or what any
// element listens for, and waits a moment for what comes of it: addresses of scripts
// are followed later. Handlers of events run only when the event happens.
func (p *Page) provokeMarker(ctx context.Context, marker string, listening bool, ran func() bool) {
	tried := 0
	if err := p.Eval(ctx, p.scriptCall("provoke", marker, listening), &tried); err != nil || tried == 0 {
		return // a document without our script, such as a picture, executes nothing
	}
	for end := time.Now().Add(lingerLimit); time.Now().Before(end) && ctx.Err() == nil && !ran(); {
		time.Sleep(settleStep)
	}
}

// echoesMarker reports whether a value of the request is the marker. Such a page shows
// its input in a dialog, which is no execution.
func echoesMarker(r *message.Request, fragment, marker string) bool {
	if strings.TrimPrefix(fragment, "#") == marker {
		return true
	}
	for _, p := range r.Points() {
		if strings.TrimSpace(p.Value) == marker {
			return true
		}
	}
	return false
}

// A Prover is the browser for one session, as checks use it.
type Prover struct {
	Browser *Browser
	As      Session
}

// Execute opens the request and returns how the marker was executed, nothing when it
// was not; see Browser.Run.
func (p Prover) Execute(ctx context.Context, r *message.Request, marker string) ([]string, error) {
	done, err := p.Browser.RunProbe(ctx, ScriptProbe{As: p.As, Request: r, Marker: marker})
	var out []string
	for _, e := range done {
		out = append(out, e.String())
	}
	return out, err
}

// ExecuteShown opens the pages whose scripts were seen to ask for the request, and
// returns how the marker was executed, nothing when it was not; see Browser.Run.
func (p Prover) ExecuteShown(ctx context.Context, r *message.Request, marker string) ([]string, error) {
	p.Browser.mu.Lock()
	pages := slices.Clone(p.Browser.asking[askingKey(r)])
	p.Browser.mu.Unlock()
	for _, address := range pages {
		page, fragment, err := splitAddress(address)
		if err != nil {
			continue
		}
		done, err := p.Browser.RunProbe(ctx, ScriptProbe{As: p.As, Request: page, Fragment: fragment, Marker: marker})
		if err != nil {
			return nil, err
		}
		var out []string
		for _, e := range done {
			out = append(out, e.String())
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}
