package interpret

import (
	"strings"

	"merlon/internal/engine/sast/ir"
	"merlon/internal/engine/sast/model"
	"merlon/internal/engine/sast/taint/frame"
	"merlon/internal/engine/sast/taint/modelindex"
	"merlon/internal/engine/sast/taint/value"
)

// This file knows what frameworks do with the values that handlers return: annotations
// of the handler and its class say which sinks a return value reaches.
// Spring, Flask and JAX-RS write the returned value into the response. A returned text is then
// a sink for cross-site scripting (CWE-79) without any call to it.

// noteReturnSinks notes what arrives at whoever called a function that carries an annotation,
// "@app.route(return)" as a sink, or that the annotation of its class speaks of.
func (a *analysis) noteReturnSinks(st *frame.State, in *ir.Instr) {
	// An object of a library type is a response, a view or a redirect. Its construction is a call
	// with sinks of its own; a text is checked here.
	v := a.Read(st, in.A)
	if strings.Contains(v.API, ".") && !strings.HasSuffix(v.API, ".String") {
		return // an object of a library: what it was made of has been looked at
	}
	set := a.Run.ModelsOf(a.Function)
	names := modelindex.Annotations(a.Function.File, a.Function.Node)
	// @RestController stands at the class and holds for its methods that handle requests.
	if a.Function.Class != nil && a.Run.HandlesRequests(a.Function) {
		names = append(names, modelindex.Annotations(a.Function.File, a.Function.Class.Node)...)
	}
	for _, name := range names {
		for _, e := range set.Match(name)[model.Sinks] {
			if e.Form != model.Annotation || !speaksOfResult(e) || !a.answerHolds(v, e.If) {
				continue
			}
			t := a.DeepTaint(st, a.TextOf(st, v))
			a.NoteSink(a.SinkAt(in.Node, e.Kind), a.Run.KindBits(e.Kind)|a.Run.OpeningBits(e), t)
		}
	}
}

// answerHolds reports whether the conditions of a sink hold for an answer: what the
// function answers with, and that it is a text.
// The place in the model is always the return value; conditions of other kinds do not occur at
// annotations.
func (a *analysis) answerHolds(v *value.Value, list []model.Condition) bool {
	for _, c := range list {
		switch {
		// The content type of the handler must be a page: an application/json response runs no
		// script.
		case c.Test == model.Page:
			if !a.Run.AnswersPage(a.Function) {
				return false
			}
		case c.Place.Base == model.Return && c.Test == model.Is && c.Word == "string":
			if a.answersText(v) == c.Not {
				return false
			}
		// Begins compares the constant beginning of the text, for example "redirect:" in Spring,
		// where the rest is a location and not a page.
		case c.Place.Base == model.Return && c.Test == model.Begins:
			if c.Like.MatchString(v.KnownPrefix()) == c.Not {
				return false
			}
		case c.Place.Base == model.Return && c.Test == model.Is && c.Word == "map":
			if (v.Kind == value.KindMap) == c.Not {
				return false
			}
		}
	}
	return true
}

// answersText reports whether what a function answers is a text: its value, or what is
// declared where the value says nothing.
func (a *analysis) answersText(v *value.Value) bool {
	if v.Kind != value.KindAny {
		return v.Kind == value.KindString
	}
	return len(a.Function.Results) == 1 && (strings.HasSuffix(a.Function.Results[0], ".String") ||
		a.Function.Results[0] == "str")
}

// speaksOfResult reports whether the entry speaks of the result.
func speaksOfResult(e *model.Entry) bool {
	for _, p := range e.Places {
		if p.Base == model.Return && len(p.Steps) == 0 {
			return true
		}
	}
	return false
}
