package browser

import (
	"context"

	"merlon/internal/engine/dast/message"
)

// A Field is a named control of a form, as it stands in a page.
type Field struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // of an input: "hidden", "text", …; else the element's name
	Value string `json:"value"`
}

// Fill opens a page in which fields have other values from the beginning, before any
// script of the page runs, and returns the forms of the page as its scripts have left
// them. Nothing is sent but what the page asks for by itself.
func (b *Browser) Fill(ctx context.Context, as Session, r *message.Request,
	values map[string]string) ([][]Field, error) {
	p, err := b.Page(ctx, PageOptions{As: as, hurry: true, values: values, allow: refuseChanges})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Send(ctx, r, "", openLimit); err != nil {
		return nil, err
	}
	var forms [][]Field
	if err := p.Eval(ctx, p.scriptCall("filled"), &forms); err != nil {
		return nil, err
	}
	return forms, nil
}

// refuseChanges refuses what may change something.
func refuseChanges(s *Sent) error {
	if s.Method != "GET" && s.Method != "HEAD" && s.Method != "OPTIONS" {
		return errChanges
	}
	return nil
}
