package sideeffect

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/engine/dast/sitemap"
)

// This file bounds the objects of one kind. Applications that name their pages by words
// (/posts/first-steps/comments) have an operation for each page, which creates comments like
// all others: hundreds of operations with a budget of their own would fill the application.

const (
	// alike is how many operations may differ in one word of their path before they count as
	// one: a comment form stands on many pages, two lists of an administration are two.
	alike = 3
	// alikeFolders is the same where the first of several words differs: programs that take
	// the same fields, such as /categories/save and /tags/save, are more often of different
	// kinds.
	alikeFolders = 6
)

// kindPatterns are the kinds of operations that a request may be one of: its method, the names of
// its fields and its button, and its path with a mark in the place of one word. A path that a
// description gives has its words from there, and a program (/add.php) has a name of its own.
func kindPatterns(r *message.Request) []string {
	fields := bodyFields(r)
	if r.Template != "" || len(fields) == 0 {
		return nil
	}
	var query []string
	for _, p := range r.Query {
		query = append(query, p.Name)
	}
	slices.Sort(query)
	same := r.Method + " " + r.Base() + " " + strings.Join(query, "&") + " " + strings.Join(fields, "&") + " " + r.Label
	segments := strings.Split(strings.Trim(sitemap.PathShape(r), "/"), "/")
	chosen := sitemap.PageKey(r)
	var out []string
	for i, segment := range segments {
		if segment == "" || segment == "{}" || path.Ext(segment) != "" {
			continue
		}
		one := slices.Clone(segments)
		one[i] = "*"
		out = append(out, strings.Join(one, "/")+" "+chosen+" "+same)
	}
	if chosen != "" {
		out = append(out, strings.Join(segments, "/")+" * "+same)
	}
	return out
}

// bodyFields are the names of what the body has, without the places of lists.
func bodyFields(r *message.Request) []string {
	var out []string
	for _, p := range r.Points() {
		switch p.In {
		case message.InForm, message.InMultipart, message.InJSON, message.InXML:
			if !slices.Contains(out, p.Name) {
				out = append(out, p.Name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// isKindExhausted reports whether operations of the same kind have created as much together as one of
// them may. The caller holds mu.
func (k *Guard) isKindExhausted(op *creator) bool {
	return slices.ContainsFunc(op.kinds, func(kind string) bool {
		others, most := k.kinds[kind], alike
		if words, _, _ := strings.Cut(kind, " "); strings.HasPrefix(words, "*") {
			most = alikeFolders
		}
		if len(others) < most {
			return false
		}
		used := 0
		for _, o := range others {
			used += o.createdCount()
			if o.createdCount() > 0 || o != op {
				used += o.under
			}
		}
		return used >= k.creationLimit()
	})
}
