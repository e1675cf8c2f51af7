package scan

import (
	"slices"

	"merlon/internal/finding"
)

// This file merges findings of several files: those of one cause, and those of one secret in the
// working tree and in the Git history.

// maxBufferedFindings bounds the findings of files that wait for others.
const maxBufferedFindings = 100_000

// fileBuffer holds findings of file analyzers until all analyzers have ended.
type fileBuffer struct {
	active bool // a project analyzer searches for secrets
	hits   []hit
}

// bufferHit buffers a finding that may be merged with others, and reports whether it did.
func (h *fileBuffer) bufferHit(one hit) bool {
	secret := h.active && one.Secret != nil && one.Secret.Key != ""
	if !secret && one.Cause == "" || len(h.hits) == maxBufferedFindings {
		return false
	}
	h.hits = append(h.hits, one)
	return true
}

// mergeHistory adds the history in the outcome to the buffered findings of the same secret, and
// removes the merged findings from the outcome.
func (h *fileBuffer) mergeHistory(o *outcome) {
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
		if h.hits[i].Secret == nil {
			continue
		}
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

// releaseBuffer merges the buffered findings of one cause, and emits them.
func (d *driver) releaseBuffer() error {
	o := &outcome{hits: d.buffer.hits}
	d.buffer = fileBuffer{}
	o.foldByCause()
	o.sortAll()
	hits := o.hits
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
