package livescan

import (
	"cmp"
	"context"
	"fmt"

	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file lists what the scan has created.

// listenerAddress is an address of the scan's listener that fields for addresses are given; empty:
// there is none.
func listenerAddress(c scan.OASTListener) string {
	if c == nil {
		return ""
	}
	address, _ := c.Address(c.NewToken())
	return address
}

// addCreatedObjects adds to the operations what the scan has created by them. An operation that is not
// among them is added.
func (v *Scan) addCreatedObjects(operations []finding.Operation) []finding.Operation {
	ctx, cancel := context.WithTimeout(v.Context, removeTime)
	defer cancel()
	tried := map[string]bool{}
	for _, made := range v.SideEffects.Created() {
		v.removeObjects(ctx, &made, tried)
		at := indexOfOperation(operations, made)
		if at < 0 {
			r := made.Request
			operations = append(operations, finding.Operation{Method: r.Method, URL: r.Base() + r.Path, ID: r.ID,
				Origin: cmp.Or(r.Origin, "attack"), Outcome: finding.Reached, Parameters: []string{}})
			at = len(operations) - 1
		}
		for _, o := range made.Objects {
			if !o.Removed && o.Reason == "" {
				o.Reason = "nothing was found that removes it"
			}
			operations[at].Created = append(operations[at].Created, o)
		}
		if left := made.Count - len(made.Objects); left > 0 {
			operations[at].Created = append(operations[at].Created,
				finding.CreatedObject{Mark: v.Values.Mark(), Reason: fmt.Sprintf("%d more like the one before", left)})
		}
	}
	return operations
}

// indexOfOperation returns the index of the operation by which something was made; -1: there is none.
func indexOfOperation(operations []finding.Operation, made sideeffect.CreatedObjects) int {
	place := made.Request.Location()
	for i, o := range operations {
		if o.Method == made.Request.Method && (o.URL == place || o.URL == made.Request.Base()+made.Request.Path) {
			return i
		}
	}
	return -1
}
