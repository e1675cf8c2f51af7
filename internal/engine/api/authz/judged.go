package authz

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// This file records for each operation whether it was tested that another user is kept out of
// what it names.

// recordTested records that the operation was requested as another user, with a result that counts.
func (e *examination) recordTested(o *Operation) { e.judged[o] = finding.Authorization{Tested: true} }

// recordSkipped records why an operation was not tested, unless it was, or an earlier reason is
// known.
func (e *examination) recordSkipped(o *Operation, why string) {
	if _, known := e.judged[o]; !known {
		e.judged[o] = finding.Authorization{Reason: why}
	}
}

// recordVerdict records what the response to another user means. A failure for another reason, such
// as 400 or 500, does not show whether access was denied.
func (e *examination) recordVerdict(o *Operation, resp *message.Response) {
	if isSuccess(resp) || slices.Contains(denials, resp.Status) && resp.Status != http.StatusMethodNotAllowed &&
		resp.Status != http.StatusNotImplemented {
		e.recordTested(o)
		return
	}
	e.recordSkipped(o, fmt.Sprintf("the response to the other user is %d, which does not show whether access "+
		"was denied", resp.Status))
}

// Names reports whether the operation takes an identifier, in its path, its query or its body.
// Others have no object whose owner could be another user.
func (o *Operation) Names() bool {
	id := func(name string) bool {
		n := normalizeName(name)
		return n == "id" || strings.HasSuffix(n, "id") && len(n) > 3 && n != "paid" || strings.HasSuffix(n, "uuid")
	}
	if o.Call != nil {
		names, _ := o.argumentNames()
		return slices.ContainsFunc(names, id)
	}
	for _, p := range o.Parameters {
		if p.In == "query" && id(p.Name) {
			return true
		}
	}
	return strings.Contains(o.Path, "{") || o.takesProperty(id)
}

// reportVerdicts passes what is known of each operation to Judged, with a reason where it was not
// tested.
func (e *examination) reportVerdicts() {
	if e.Judged == nil {
		return
	}
	for _, o := range e.Operations {
		v, known := e.judged[o]
		switch {
		case known:
		case !o.Names():
			v.Reason = "it names no object"
		case len(e.Users) < 2:
			v.Reason = "there is no second user: no other identity was given, and the scan could register none"
		case !e.mayChange():
			v.Reason = fmt.Sprintf("the profile %s creates no objects to try it with", e.Target.Profile)
		default:
			v.Reason = "no operation is known that creates an object which it names, and shows it again"
		}
		e.Judged(o, v)
	}
}
