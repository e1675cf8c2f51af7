package authz

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
	"merlon/internal/engine/dast/traffic"
)

// This file finds the kinds of objects of an API: which operations create them, show them, and
// change them. Paths tell it, and the members of responses where paths do not.

// A kind is one kind of objects with the operations about it.
type kind struct {
	// maker creates one.
	maker *Operation
	// read shows one; nil: only a list shows them.
	read *Operation
	// about are the operations on one object, such as PUT /cards/{card_id}.
	about []*Operation
	// actions have a path that goes on after the object: POST /cards/{card_id}/freeze.
	actions []*Operation
	// parameter is the name in their paths: "card_id".
	parameter string
}

// allOperations returns all operations about an object of the kind.
func (k *kind) allOperations() []*Operation { return slices.Concat(k.about, k.actions) }

// creatingOperation returns the operation that adds to the collection: POST, else PUT where the
// collection has items, else an action whose response contains such an object (POST /cards/create);
// nil: there is none.
func (e *examination) creatingOperation(path string) *Operation {
	if o := e.operationAt(http.MethodPost, path); o != nil {
		return o
	}
	if o := e.operationAt(http.MethodPut, path); o != nil && len(e.itemOperations(path)) > 0 {
		return o
	}
	for o, home := range e.homes {
		if home == path {
			return o
		}
	}
	return nil
}

// collectionOf returns the path of the collection that the operation adds to.
func (e *examination) collectionOf(o *Operation) string { return cmp.Or(e.homes[o], o.trimmedPath()) }

// itemOperations returns the operations on one object of the collection.
func (e *examination) itemOperations(path string) []*Operation {
	var out []*Operation
	for _, o := range e.Operations {
		if at, _ := o.collectionPath(); o.Call == nil && at == path {
			out = append(out, o)
		}
	}
	return out
}

// itemActions returns the operations whose paths go on after an object of the collection, without
// another parameter; those that remove something come last, because the others need the object.
func (e *examination) itemActions(path string) []*Operation {
	var out []*Operation
	for _, o := range e.Operations {
		rest, below := strings.CutPrefix(o.trimmedPath(), path+"/{")
		if _, action, more := strings.Cut(rest, "}/"); o.Call == nil && below && more &&
			!strings.Contains(action, "{") && !sitemap.IsDangerous(o.Path) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b *Operation) int { return removalRank(a) - removalRank(b) })
	return out
}

// parameterBehind returns the name of the parameter that follows the path in that of the operation.
func parameterBehind(o *Operation, path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(o.trimmedPath(), path+"/{"), "}")
	return name
}

// removalRank is 1 for an operation that is named as one that removes something, else 0.
func removalRank(o *Operation) int {
	if o.Method == http.MethodDelete || sitemap.NamesRemoval(o.nameWords()) || sitemap.NamesRemoval(o.trimmedPath()) {
		return 1
	}
	return 0
}

// findCreatingActions finds the actions that create objects of collections to which no operation
// adds by its path. The response of an action says which objects it creates, or its description
// does.
func (e *examination) findCreatingActions() {
	e.homes, e.lists = map[*Operation]string{}, map[string]*Operation{}
	seen := map[string]bool{}
	for _, item := range e.Operations {
		names := pathParameters(item.Path)
		if item.Call != nil || len(names) == 0 {
			continue
		}
		parameter := names[len(names)-1]
		path := item.Path[:strings.LastIndex(item.Path, "/{"+parameter+"}")]
		if path == "" || seen[path] || e.operationAt(http.MethodPost, path) != nil ||
			e.operationAt(http.MethodPut, path) != nil {
			continue
		}
		seen[path] = true
		var best *Operation
		rank := 0
		for _, o := range e.Operations {
			if e.homes[o] == "" && e.mayCreate(o, path) {
				if r := e.scoreCreation(o, path, parameter); r > rank {
					best, rank = o, r
				}
			}
		}
		if best != nil {
			e.homes[best] = path
		}
	}
}

// mayCreate reports whether the operation can be an action that adds to the collection.
func (e *examination) mayCreate(o *Operation, path string) bool {
	if o.Call != nil || o.Method != http.MethodPost || o == e.register || o == e.login || o.bodySchema() == nil ||
		sitemap.IsDangerous(o.Path) || removalRank(o) > 0 ||
		apispec.Rewrites(o.Path[strings.LastIndexByte(o.Path, '/')+1:]) {
		return false
	}
	around := path[:strings.LastIndexByte(path, '}')+1] // what the collection is within
	return strings.HasPrefix(o.Path, around) && strings.Count(o.Path, "{") == strings.Count(around, "{") &&
		len(e.itemOperations(o.trimmedPath())) == 0
}

// scoreCreation returns how certainly the response of the operation contains a new object of the
// collection; 0: it does not. 3: the path is below that of the collection; 2: its noun is the same;
// 1: only the response says so.
func (e *examination) scoreCreation(o *Operation, path, parameter string) int {
	thing := apispec.Noun(path)
	stem := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(normalizeName(parameter), "uuid"), "guid"), "id")
	about := func(noun string) bool {
		return apispec.Same(noun, thing) || stem != "" && apispec.Same(noun, stem)
	}
	held := false
	look := func(noun string, names []string) {
		for _, name := range names {
			switch n := normalizeName(name); n {
			case "id", "uuid", "guid", "key", "slug":
				held = held || about(noun)
			default:
				held = held || n == normalizeName(parameter) && about(noun)
			}
		}
	}
	own := apispec.Noun(o.trimmedPath())
	if o.Answer != nil && isSuccess(o.Answer) {
		visitMembers(message.DecodeJSON(o.Answer.Body), own, 0, look)
	} else {
		for _, r := range o.Responses {
			for _, m := range r.Bodies {
				if strings.HasPrefix(r.Status, "2") {
					declaredMembers(m.Schema, own, 0, look)
				}
			}
		}
	}
	switch {
	case !held:
		return 0
	case strings.HasPrefix(o.Path, path+"/"):
		return 3
	case about(own):
		return 2
	}
	return 1
}

// visitMembers calls look for each object in a response, with the noun of the object, which is the
// member around it, else noun, and the names of its members.
func visitMembers(v any, noun string, depth int, look func(noun string, names []string)) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, below := range v[:min(1, len(v))] {
			visitMembers(below, noun, depth+1, look)
		}
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		look(noun, names)
		for _, name := range names {
			visitMembers(v[name], cmp.Or(apispec.Thing(name), noun), depth+1, look)
		}
	}
}

// declaredMembers does the same for the schema of a response. The name of a schema is a noun too.
func declaredMembers(s *apispec.Schema, noun string, depth int, look func(noun string, names []string)) {
	if s == nil || depth > maxWraps+1 {
		return
	}
	flat := requestgen.Flat(s)
	if flat.Items != nil {
		declaredMembers(flat.Items, noun, depth+1, look)
	}
	var names []string
	for _, p := range flat.Properties {
		names = append(names, p.Name)
		declaredMembers(p.Schema, cmp.Or(apispec.Thing(p.Name), noun), depth+1, look)
	}
	if look(noun, names); flat.Name != "" {
		look(apispec.Thing(flat.Name), names)
	}
}

// objectKinds returns the kinds that the examination can create and read, outer ones first: cards
// are created within an account. A kind that no operation shows cannot be tested.
func (e *examination) objectKinds() []*kind {
	var out []*kind
	outermost := slices.Clone(e.Operations)
	slices.SortStableFunc(outermost, func(a, b *Operation) int {
		return strings.Count(a.Path, "{") - strings.Count(b.Path, "{")
	})
	for _, o := range outermost {
		if !e.createsKind(o) || len(out) == maxObjects {
			continue
		}
		home := e.collectionOf(o)
		k := &kind{maker: o, about: e.itemOperations(home), actions: e.itemActions(home)}
		shows := func(o *Operation) bool { return o.Method == http.MethodGet }
		if i := slices.IndexFunc(k.about, shows); i >= 0 {
			k.read = k.about[i]
		} else if len(k.allOperations()) == 0 || e.operationAt(http.MethodGet, home) == nil && e.homes[o] == "" &&
			!slices.ContainsFunc(k.actions, shows) {
			continue
		}
		k.parameter = parameterBehind(k.allOperations()[0], home)
		out = append(out, k)
	}
	return out
}

// createsKind reports whether the operation is the one that adds to its collection, and
// takes an object.
func (e *examination) createsKind(o *Operation) bool {
	return o.Call == nil && o == e.creatingOperation(e.collectionOf(o)) && o != e.register && o != e.login &&
		!sitemap.IsDangerous(o.Path) && o.bodySchema() != nil
}

// readObject reads the object as somebody: at its own address, else in the list, of which it
// returns the page that shows the object, or the last one; nil: nothing shows it.
func (e *examination) readObject(k *kind, m *object, as *User) (*message.Response, error) {
	if k.read != nil {
		r, err := e.itemRequest(k.read, m.id, m.within, nil)
		if err != nil {
			return nil, nil
		}
		return e.sendAs(r, as)
	}
	pages, err := e.fetchList(k.maker, as, m.within)
	if err != nil || len(pages) == 0 {
		return nil, err
	}
	if i := slices.IndexFunc(pages, func(p *message.Response) bool { return len(m.seenWords(p)) > 0 }); i >= 0 {
		return pages[i], nil
	}
	return pages[len(pages)-1], nil
}

// findReader searches for an operation that shows an object without an address of its own that is
// not in the list of its collection: an action about it, or another list.
func (e *examination) findReader(k *kind, m *object) (*message.Response, error) {
	for _, o := range k.actions {
		r, err := e.itemRequest(o, m.id, m.within, nil)
		if err != nil || o.Method != http.MethodGet {
			continue
		}
		resp, err := e.sendAs(r, m.as)
		if err != nil {
			return nil, err
		}
		if isSuccess(resp) && len(m.seenWords(resp)) > 0 {
			k.read = o
			return resp, nil
		}
	}
	return e.findListing(k, m)
}

// findListing finds another list than the collection's that shows the object. Those that
// are named like it come first.
func (e *examination) findListing(k *kind, m *object) (*message.Response, error) {
	home := e.collectionOf(k.maker)
	lists := slices.DeleteFunc(slices.Clone(e.Operations), func(o *Operation) bool { return !o.isFixedRead() })
	thing := apispec.Noun(home)
	slices.SortStableFunc(lists, func(a, b *Operation) int {
		order := map[bool]int{true: -1}
		return order[apispec.Same(apispec.Noun(a.Path), thing)] - order[apispec.Same(apispec.Noun(b.Path), thing)]
	})
	for _, o := range lists[:min(maxShown, len(lists))] {
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		resp, err := e.sendAs(r, m.as)
		if err != nil {
			return nil, err
		}
		if isSuccess(resp) && len(m.seenWords(resp)) > 0 {
			e.lists[home] = o
			return resp, nil
		}
	}
	return nil, nil
}

// isGone reports whether a response of readObject shows that the object no longer exists. A list
// proves that only on its last page.
func (k *kind) isGone(m *object, resp *message.Response) bool {
	if k.read != nil {
		return resp.Status == http.StatusNotFound || resp.Status == http.StatusGone
	}
	return isSuccess(resp) && len(m.seenWords(resp)) == 0 && nextPage(resp) == ""
}

// requireIdentifier is identifierFor with an error where no response shows the identifier. Such an
// error does not end the scan.
func (e *examination) requireIdentifier(m *object, parameter string) (any, error) {
	v, err := e.identifierFor(m, parameter)
	if v == nil && err == nil {
		err = fmt.Errorf("no response shows which %q identifies the object that %s %s creates", parameter, m.of.Method,
			m.of.Path)
	}
	return v, err
}

// createAndRead makes an object of the kind as the user, and reads it. An error that does not end
// the scan says why that does not work.
func (e *examination) createAndRead(k *kind, as *User) (*object, *message.Response, error) {
	mine, err := e.createObject(k.maker, as, nil)
	if err != nil {
		return nil, nil, err
	}
	if mine.id, err = e.requireIdentifier(mine, k.parameter); err != nil {
		return nil, nil, err
	}
	own, err := e.readObject(k, mine, as)
	if traffic.IsFinal(err) {
		return nil, nil, err
	}
	if k.read == nil && (own == nil || len(mine.seenWords(own)) == 0) {
		own, err = e.findReader(k, mine)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case own == nil || !isSuccess(own):
		return nil, nil, fmt.Errorf("what %s %s makes is not shown to the user who has made it", k.maker.Method,
			k.maker.Path)
	case len(mine.seenWords(own)) == 0:
		return nil, nil, fmt.Errorf("nothing of what %s %s was sent is shown to the user who has "+
			"sent it", k.maker.Method, k.maker.Path)
	}
	return mine, own, nil
}
