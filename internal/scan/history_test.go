package scan

import (
	"fmt"
	"slices"
	"testing"

	"merlon/internal/finding"
)

// secretHit is a finding of a secret with the key, in the history when it has a commit.
func secretHit(path, key, commit string) hit {
	h := hit{rule: &finding.Rule{ID: "secrets/x"}, Finding: finding.Finding{Location: finding.Location{Path: path},
		Secret: &finding.SecretMatch{Key: key}}}
	if commit != "" {
		h.Secret.History = &finding.History{FirstCommit: commit}
	}
	return h
}

// A secret that the tree and the history contain is one finding, at its location in the tree.
func TestMergeHistory(t *testing.T) {
	for _, c := range []struct {
		name          string
		tree, history []hit
		wantTree      []string // "path commit in-tree"
		wantHistory   []string // paths
	}{
		{"in both", []hit{secretHit("a", "k1", "")}, []hit{secretHit("old", "k1", "c1")}, []string{"a c1 true"}, nil},
		{"twice in the tree", []hit{secretHit("a", "k1", ""), secretHit("b", "k1", "")},
			[]hit{secretHit("old", "k1", "c1")}, []string{"a c1 true", "b c1 true"}, nil},
		{"in the history only", []hit{secretHit("a", "k1", "")}, []hit{secretHit("old", "k2", "c1")},
			[]string{"a  false"}, []string{"old"}},
		{"in the tree only", []hit{secretHit("a", "k1", "")}, nil, []string{"a  false"}, nil},
		{"without a key", nil, []hit{secretHit("old", "", "c1")}, nil, []string{"old"}},
	} {
		b := fileBuffer{active: true}
		for _, h := range c.tree {
			if !b.bufferHit(h) {
				t.Fatalf("%s: %s is not buffered", c.name, h.Location.Path)
			}
		}
		o := &outcome{hits: c.history}
		shared := c.history
		b.mergeHistory(o)
		var tree, history []string
		for _, h := range b.hits {
			commit, in := "", false
			if s := h.Secret.History; s != nil {
				commit, in = s.FirstCommit, s.InTree
			}
			tree = append(tree, fmt.Sprint(h.Location.Path, " ", commit, " ", in))
		}
		for _, h := range o.hits {
			history = append(history, h.Location.Path)
		}
		if !slices.Equal(tree, c.wantTree) || !slices.Equal(history, c.wantHistory) {
			t.Errorf("%s: got %q and %q, want %q and %q", c.name, tree, history, c.wantTree, c.wantHistory)
		}
		for _, h := range shared {
			if h.Secret != nil && h.Secret.History != nil && h.Secret.History.InTree {
				t.Errorf("%s: the finding of the history was changed", c.name)
			}
		}
	}
}

func TestBufferHit(t *testing.T) {
	for _, c := range []struct {
		name   string
		buffer fileBuffer
		hit    hit
		want   bool
	}{
		{"a secret", fileBuffer{active: true}, secretHit("a", "k", ""), true},
		{"nobody reads the history", fileBuffer{}, secretHit("a", "k", ""), false},
		{"no key", fileBuffer{active: true}, secretHit("a", "", ""), false},
		{"no secret", fileBuffer{active: true}, hit{}, false},
		{"a full buffer", fileBuffer{active: true, hits: make([]hit, maxBufferedFindings)}, secretHit("a", "k", ""),
			false},
	} {
		if got := c.buffer.bufferHit(c.hit); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
