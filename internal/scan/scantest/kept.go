package scantest

import (
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// Kept is a scan.Handler that keeps what a scan says.
type Kept struct {
	scan.Summary
	Findings   []finding.Finding
	Operations []finding.Operation
}

// Finding implements scan.Handler.
func (k *Kept) Finding(f *finding.Finding) error {
	k.Findings = append(k.Findings, *f)
	return k.Summary.Finding(f)
}

// Operation implements scan.Handler.
func (k *Kept) Operation(o *finding.Operation) error {
	k.Operations = append(k.Operations, *o)
	return k.Summary.Operation(o)
}
