package scan

import "merlon/internal/finding"

// This file joins what the files of the tree and the history of the repository
// tell about one secret, so that it is one finding.

// maxBufferedSecrets bounds the findings that wait for the history.
const maxBufferedSecrets = 100_000

// secretBuffer are the findings of secrets in the tree, until those who look at the whole
// tree have ended.
type secretBuffer struct {
	active bool // somebody looks at the whole tree for secrets
	hits   []hit
}

// bufferHit keeps a finding back, and reports whether it did.
func (h *secretBuffer) bufferHit(one hit) bool {
	if !h.active || one.Secret == nil || one.Secret.Key == "" || len(h.hits) == maxBufferedSecrets {
		return false
	}
	h.hits = append(h.hits, one)
	return true
}

// mergeHistory gives the held findings the history that the outcome knows of them, and
// takes those findings out of the outcome.
func (h *secretBuffer) mergeHistory(o *outcome) {
	known := map[string]*finding.History{}
	for _, one := range o.hits {
		if s := one.Secret; s != nil && s.Key != "" && s.History != nil {
			known[s.Key] = s.History
		}
	}
	if len(known) == 0 {
		return
	}
	inTree := map[string]bool{}
	for i := range h.hits {
		s := *h.hits[i].Secret
		if history := known[s.Key]; history != nil {
			copied := *history
			copied.InTree = true
			s.History = &copied
			h.hits[i].Secret = &s
			inTree[s.Key] = true
		}
	}
	kept := o.hits[:0]
	for _, one := range o.hits {
		if one.Secret != nil && inTree[one.Secret.Key] {
			continue
		}
		kept = append(kept, one)
	}
	o.hits = kept
}

// releaseSecrets emits the findings that were held back.
func (d *driver) releaseSecrets() error {
	hits := d.secrets.hits
	d.secrets = secretBuffer{}
	for i := range hits {
		if err := d.emitFinding(&hits[i]); err != nil {
			return err
		}
	}
	return nil
}
