package operations

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sideeffect"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

// This file asks every operation as its description says.

// operationWeight orders operations: those that take no identifiers first, so that they give
// them, and of one path those that make before those that read, change and remove.
func (e *examination) operationWeight(c *call) int {
	o := c.operation
	if o.Call != nil && o.Call.Kind == "mutation" && e.altersObject(o) {
		return 5
	}
	method := slices.Index([]string{http.MethodPost, http.MethodGet, http.MethodHead, http.MethodOptions, "QUERY",
		http.MethodPut, http.MethodPatch, http.MethodTrace}, o.Method)
	if o.Method == http.MethodDelete {
		return 1000 + strings.Count(o.Path, "{")
	}
	if o.Call != nil && o.Call.Kind == "query" {
		method = 1
	}
	return 10*strings.Count(o.Path, "{") + max(method, 0)
}

// exploreOperations asks each operation.
func (e *examination) exploreOperations(ctx context.Context) error {
	order := slices.Clone(e.calls)
	slices.SortStableFunc(order, func(a, b *call) int {
		return cmp.Compare(e.operationWeight(a), e.operationWeight(b))
	})
	for i, c := range order {
		if err := e.exploreOperation(ctx, c); traffic.IsFinal(err) {
			for _, rest := range order[i:] {
				if rest.answer == nil {
					rest.seen.Reason = "the scan ended before: " + err.Error()
				}
			}
			for _, asked := range order[:i] {
				e.addToSitemap(asked)
			}
			return err
		}
		e.Progress(5+35*i/len(order), fmt.Sprintf("requested %d of %d operations, %d "+
			"requests", i+1, len(order), e.Client.Sent()))
	}
	// What needed an identifier that was not there yet may have one now.
	for _, c := range order {
		if c.answer != nil && c.answer.Status == http.StatusNotFound && strings.Contains(c.operation.Path, "{") {
			if err := e.exploreOperation(ctx, c); traffic.IsFinal(err) {
				return err
			}
		}
	}
	if err := e.useKeys(ctx, order); err != nil {
		return err
	}
	for _, c := range order {
		e.addToSitemap(c)
	}
	return nil
}

// addToSitemap gives the operation to the attack.
func (e *examination) addToSitemap(c *call) {
	if c.answer == nil || (c.operation.Method == http.MethodDelete || isRemovalName(c)) &&
		!e.Target.Profile.Allows(scan.Full) {
		return
	}
	if c.origin == "code" && slices.Contains(e.Analyses, finding.DAST) && c.answer.Status < 400 && !c.answer.IsData() &&
		(c.answer.IsHTML() || c.answer.Status >= 300) {
		c.seen.Reason = "it returns a page: the DAST analysis covers it"
		return
	}
	if why := e.SideEffects.RefusalReason(c.request); why != "" {
		c.seen.Reason = why
		return
	}
	if e.Sitemap.Add(c.request) {
		e.byShape[sitemap.OperationKey(c.request)] = c
		e.Sitemap.RecordOutline(c.request, c.answer)
	}
}

// sensitive are operations that may change what the scan itself needs: who is changed
// is not always who is named in the path.
var sensitive = lazyregexp.New(`(?i)passw|credential|2fa|mfa|otp\b|/me\b|/self\b|api-?keys?\b`)

// isRemovalName reports whether an operation of another method than DELETE is named as one
// that removes.
func isRemovalName(c *call) bool {
	o := c.operation
	if o.Call != nil {
		return sitemap.NamesRemoval(o.Call.Field)
	}
	if o.Method == http.MethodPost && sitemap.IsPasswordRecovery(o.Path) {
		return false // the user whose password is forgotten there is one that the scan has made up
	}
	return o.Method != http.MethodDelete && (sitemap.NamesRemoval(o.ID) || sitemap.NamesRemoval(o.Path))
}

// refusalReason says why an operation is not asked; empty: it may be.
func (e *examination) refusalReason(c *call, r *message.Request) string {
	o := c.operation
	if why := neverAsked(o, r); why != "" {
		return why
	}
	full := e.Target.Profile.Allows(scan.Full)
	if isRemovalName(c) && !c.created && !full {
		return "its name indicates that it removes something that the scan has not created: only the profile full " +
			"requests it"
	}
	if readsOnly(o) {
		return ""
	}
	if why := e.changeRefusal(c, full); why != "" {
		return why
	}
	return e.SideEffects.RefusalReason(r)
}

// neverAsked says why no profile asks an operation; empty: one may.
func neverAsked(o *apispec.Operation, r *message.Request) string {
	switch {
	case o.Call != nil && o.Call.Kind == "subscription":
		return "a subscription: it is not available over HTTP"
	case o.Call == nil && o.Method == http.MethodTrace:
		return "TRACE is not sent"
	case sitemap.IsDangerous(r.Address()), sitemap.IsDangerous("/" + o.ID):
		return "it ends the session or is irreversible: never requested"
	}
	return ""
}

// readsOnly reports whether an operation changes nothing, by its method or its kind.
func readsOnly(o *apispec.Operation) bool {
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, "QUERY"}, o.Method) ||
		o.Call != nil && o.Call.Kind == "query"
}

// changeRefusal says why the profile does not ask an operation that changes something;
// empty: it does. Up to the profile standard only what the scan has made is changed.
func (e *examination) changeRefusal(c *call, full bool) string {
	o, profile := c.operation, e.Target.Profile
	switch {
	case !profile.Allows(scan.Standard):
		return fmt.Sprintf("it changes something, which the profile %s does not", profile)
	case full:
		return ""
	case o.Method == http.MethodDelete && !c.created:
		return "it removes something that the scan has not made: the profile full does"
	case o.Method != http.MethodPost && sensitive.MatchString(o.Path):
		return "it may change the credentials of the scan's identity: only the profile full requests it"
	case !c.created && e.altersObject(o) && !e.changesOwnAccount(o):
		return "it changes something that the scan has not made: the profile full does"
	}
	return ""
}

// sideEffect judges an operation by its description. What changes an object that the scan has
// made, or the account that it has registered, changes nothing of others.
func (e *examination) sideEffect(c *call, r *message.Request) message.Effect {
	o := c.operation
	if o.Call != nil && o.Call.Kind == "query" {
		return message.Reads
	}
	judged := sideeffect.Classify(sideeffect.Operation{Request: r, Signed: len(e.Target.Identities) > 0,
		Mark:  e.Values.Mark(),
		About: o.Summary})
	switch judged {
	case message.Money:
		if sideeffect.IsPurchase(o.Path) && o.Method == http.MethodPost && e.canDeleteBelow(o.Path) {
			return message.Creates // it can be deleted again
		}
	case message.Changes, message.Settings, message.Accounts, message.Removes:
		switch {
		case c.created, e.changesOwnAccount(o):
			return message.Owned
		case judged == message.Accounts && o.Method == http.MethodPost && !o.RequiresAuthentication() &&
			!e.altersObject(o):
			return message.Creates // anybody may make an account for himself
		}
	}
	return judged
}

// canDeleteBelow reports whether the description has an operation that deletes an object
// of the collection at the path.
func (e *examination) canDeleteBelow(path string) bool {
	return slices.ContainsFunc(e.calls, func(c *call) bool {
		return c.operation.Method == http.MethodDelete &&
			strings.HasPrefix(c.operation.Path, strings.TrimRight(path, "/")+"/{")
	})
}

// maxAttempts bounds the inputs that are tried for one operation.
const maxAttempts = 4

// exploreOperation sends valid inputs of the operation until one is accepted: with everything that
// the description names, with what it requires alone, and with other identifiers.
func (e *examination) exploreOperation(ctx context.Context, c *call) error {
	tried := map[string]bool{}
	for _, a := range []struct {
		n        int
		optional bool
	}{{0, true}, {0, false}, {1, true}, {2, true}} {
		c.created = false
		input := requestgen.ValidInput(c.operation, e.generatorOptions(c, a.n, a.optional))
		r, err := input.Request(e.Scope.Base(), c.origin)
		if err != nil {
			c.seen.Reason = err.Error()
			return nil
		}
		content, _ := r.Content()
		same := r.Address() + "\n" + string(content)
		if tried[same] {
			continue
		}
		tried[same] = true
		r.Effect = e.sideEffect(c, r)
		if why := e.refusalReason(c, r); why != "" {
			if c.answer == nil {
				c.seen.Reason = why
			}
			return nil
		}
		resp, err := e.Client.Send(ctx, r, e.As)
		c.seen.Requests++
		if err != nil {
			if c.answer == nil {
				c.seen.Reason = err.Error()
				c.request, c.late = r, errs.Is(err, errs.Unavailable)
			}
			return err
		}
		if there := resp.WithTrailingSlash(); there != nil && !c.operation.Slash {
			c.operation.Slash, r = true, there
			c.seen.Requests++
			if resp, err = e.Client.Send(ctx, r, e.As); err != nil {
				return err
			}
		}
		if e.keepResponse(c, r, resp); resp.Status < 300 || len(tried) == maxAttempts ||
			slices.Contains(inputIndependent, resp.Status) {
			break
		}
	}
	return nil
}

// inputIndependent are the statuses of refusals that no other input would change.
var inputIndependent = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
	http.StatusTooManyRequests}

// keepResponse records an answer when it is better than what is known.
func (e *examination) keepResponse(c *call, r *message.Request, resp *message.Response) {
	e.store.learnFrom(c.operation, resp)
	e.learnKeys(resp)
	if c.answer != nil && rankOf(c.answer) >= rankOf(resp) {
		return
	}
	c.request, c.answer = r, resp
	c.seen.Outcome, c.seen.Reason = outcomeOf(c, resp)
	c.seen.Status, c.seen.As = resp.Status, e.As.Name()
	c.seen.Parameters = []string{}
	for _, p := range r.Points() {
		if k := p.Key(); !slices.Contains(c.seen.Parameters, k) {
			c.seen.Parameters = append(c.seen.Parameters, k)
		}
	}
}

// rankOf says how much an answer shows of an operation.
func rankOf(resp *message.Response) int {
	switch {
	case resp.Status < 300:
		return 5
	case resp.Status < 400:
		return 4
	case resp.Status >= 500:
		return 3
	case resp.Status == http.StatusNotFound:
		return 1
	}
	return 2
}

// outcomeOf says what an answer means. GraphQL refuses with the status 200.
func outcomeOf(c *call, resp *message.Response) (finding.Outcome, string) {
	if c.operation.Call != nil && resp.Status == http.StatusOK {
		answer, _ := message.DecodeJSON(resp.Body).(map[string]any)
		list, _ := answer["errors"].([]any)
		data, _ := answer["data"].(map[string]any)
		if first, ok := followPointer(append(list, nil)[0], "/message").(string); ok &&
			data[c.operation.Call.Field] == nil {
			return finding.Refused, fmt.Sprintf("the response contains an error: %.200q", first)
		}
	}
	if resp.Status == http.StatusNotFound && strings.Contains(c.operation.Path, "{") {
		return finding.NotReached, "404: no object is known that it could be requested for"
	}
	return sitemap.Outcome(resp)
}
