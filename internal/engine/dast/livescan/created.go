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

// listenerAddress returns an address of the scan's listener, which fields for addresses are filled
// in with; empty: there is no listener. A valid address of a foreign host would send requests of
// the target there.
func listenerAddress(c scan.OASTListener) string {
	if c == nil {
		return ""
	}
	address, _ := c.Address(c.NewToken())
	return address
}

// addCreatedObjects removes what the scan has created, as far as the application offers it, and
// lists the objects at the operations that created them. An operation that is not listed is
// appended: an attack may create by an address that nobody described.
func (v *Scan) addCreatedObjects(operations []finding.Operation) []finding.Operation {
	// The context of the attack may be over; that of the scan has a part of its time left for this.
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
		// The guard keeps the first objects of an operation and counts the rest.
		if left := made.Count - len(made.Objects); left > 0 {
			operations[at].Created = append(operations[at].Created,
				finding.CreatedObject{Mark: v.Values.Mark(), Reason: fmt.Sprintf("%d more like the one before", left)})
		}
	}
	return operations
}

// indexOfOperation returns the index of the operation by which something was created; -1: there is
// none. Descriptions name it by its template, "/users/{id}", the attack by its address.
func indexOfOperation(operations []finding.Operation, made sideeffect.CreatedObjects) int {
	place := made.Request.Location()
	for i, o := range operations {
		if o.Method == made.Request.Method && (o.URL == place || o.URL == made.Request.Base()+made.Request.Path) {
			return i
		}
	}
	return -1
}
