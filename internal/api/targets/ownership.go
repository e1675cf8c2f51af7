package targets

import (
	"context"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file shows and verifies whose the hosts of a target are.

// Owners finds out what organizations control.
type Owners interface {
	// Status returns what is known of each origin of the target, without a request.
	Status(ctx context.Context, sc tenant.Scope, t *scan.Target) ([]ownership.Status, error)
	// Verify asks the hosts for their proofs, by one method or with an empty one by all, and
	// returns the new status.
	Verify(ctx context.Context, sc tenant.Scope, t *scan.Target, m ownership.Method) ([]ownership.Status, error)
}

// ownershipBody is the ownership status of one origin.
type ownershipBody struct {
	Origin   string           `json:"origin" doc:"Origin: scheme, host and port."`
	Verified bool             `json:"verified" doc:"Active scans are allowed. The published proof is verified again when a scan starts."`
	Listed   []string         `json:"listed" doc:"Entries of the deployment's dast-allow setting that match the host, which then needs no proof of ownership."`
	Proofs   []proofBody      `json:"proofs" doc:"Verified proofs."`
	Places   []ownershipPlace `json:"places" doc:"Ways to prove ownership of the host; one of them is enough."`
}

// proofBody is a successful verification and when it expires.
type proofBody struct {
	Subject    string           `json:"subject" doc:"Domain including its subdomains, or host and port."`
	Method     ownership.Method `json:"method" enum:"dns,file,header,meta"`
	VerifiedAt time.Time        `json:"verifiedAt"`
	CheckedAt  time.Time        `json:"checkedAt" doc:"Time of the last successful verification."`
	ExpiresAt  time.Time        `json:"expiresAt" doc:"Time at which the proof expires unless it is verified again."`
	Stale      bool             `json:"stale"`
}

// ownershipPlace is where to publish a token so that the ownership can be verified.
type ownershipPlace struct {
	Method  ownership.Method `json:"method" enum:"dns,file,header,meta" doc:"dns: a TXT record; file: a file with the value as its only content; header: a response header; meta: a meta element in the head of the page."`
	Subject string           `json:"subject" doc:"Scope of the proof: a domain including its subdomains, or a host and port."`
	Where   string           `json:"where" doc:"Name of the DNS record, or URL. Redirects are not followed."`
	Value   string           `json:"value"`
}

// ownershipOutput is the status of all origins of a target.
type ownershipOutput struct {
	Body struct {
		Verified bool            `json:"verified" doc:"The ownership of every origin is verified."`
		Origins  []ownershipBody `json:"origins"`
	}
}

// showOwnership returns the status of all origins; the target is verified when each of them is.
func showOwnership(all []ownership.Status, now time.Time) *ownershipOutput {
	out := &ownershipOutput{}
	out.Body.Verified = true
	for n := range all {
		s := &all[n]
		shown := s.Verified(now)
		out.Body.Verified = out.Body.Verified && shown
		out.Body.Origins = append(out.Body.Origins, ownershipBody{
			Origin: s.Origin.URL(), Verified: shown, Listed: endpoint.OrEmpty(s.Listed),
			Proofs: endpoint.Convert(s.Proofs, func(p ownership.Proof) proofBody {
				return proofBody{p.Subject, p.Method, p.First, p.Checked, p.Checked.Add(ownership.ProofLifetime),
					p.Stale(now)}
			}),
			Places: endpoint.Convert(s.Challenges, func(p ownership.Challenge) ownershipPlace {
				return ownershipPlace{p.Method, p.Subject, p.Where, p.Value}
			}),
		})
	}
	out.Body.Origins = endpoint.OrEmpty(out.Body.Origins)
	return out
}

// GetOwnership responds with the ownership status of each origin of a target.
func (a *Handlers) GetOwnership(ctx context.Context, sc tenant.Scope, in *TargetInput) (*ownershipOutput, error) {
	t, err := a.TargetAt(ctx, sc, *in)
	if err != nil {
		return nil, err
	}
	all, err := a.Owners.Status(ctx, sc, &t.Shown)
	if err != nil {
		return nil, err
	}
	return showOwnership(all, a.Now()), nil
}

// verifyOwnershipInput names a target and optionally one method.
type verifyOwnershipInput struct {
	TargetInput
	Body struct {
		Method ownership.Method `json:"method,omitempty" enum:"dns,file,header,meta" doc:"Verification method. Default: all of them in turn."`
	}
}

// verifyTime bounds how long the hosts of a target may take to show their tokens.
const verifyTime = 2 * time.Minute

// VerifyOwnership fetches the organization's tokens from the hosts of a target. The time is
// limited, because the hosts are not ours.
func (a *Handlers) VerifyOwnership(ctx context.Context, sc tenant.Scope,
	in *verifyOwnershipInput) (*ownershipOutput, error) {
	t, err := a.TargetAt(ctx, sc, in.TargetInput)
	if err != nil {
		return nil, err
	}
	looking, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	all, err := a.Owners.Verify(looking, sc, &t.Shown, in.Body.Method)
	if err != nil {
		return nil, err
	}
	return showOwnership(all, a.Now()), nil
}
