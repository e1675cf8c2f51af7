package scan

import (
	"slices"

	"merlon/internal/finding"
)

// This file merges the findings of one secret in the working tree and in the Git history, so
// that it is reported once.

// maxBufferedSecrets bounds the findings that wait for the analysis of the history.
const maxBufferedSecrets = 100_000

// secretBuffer holds the secret findings of the tree until the project analyzers have ended.
type secretBuffer struct {
	active bool // a project analyzer searches for secrets
	hits   []hit
}

// bufferHit buffers a secret finding, and reports whether it did.
func (h *secretBuffer) bufferHit(one hit) bool {
	if !h.active || one.Secret == nil || one.Secret.Key == "" || len(h.hits) == maxBufferedSecrets {
		return false
	}
	h.hits = append(h.hits, one)
	return true
}

// mergeHistory adds the history in the outcome to the buffered findings of the same secret, and
// removes the merged findings from the outcome.
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

// releaseSecrets emits the buffered findings.
func (d *driver) releaseSecrets() error {
	hits := d.secrets.hits
	d.secrets = secretBuffer{}
	for i := range hits {
		if err := d.emitFinding(d.jobNamed(hits[i].Analyzer), &hits[i]); err != nil {
			return err
		}
	}
	return nil
}

// jobNamed returns the job of the analyzer with the ID.
func (d *driver) jobNamed(id string) *job {
	return d.jobs[slices.IndexFunc(d.jobs, func(j *job) bool { return j.ID == id })]
}
