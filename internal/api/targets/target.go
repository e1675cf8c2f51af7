package targets

import (
	"context"
	"slices"
	"strings"
	"time"

	"merlon/internal/api/endpoint"
	"merlon/internal/livetarget"
	"merlon/internal/scan"
	"merlon/internal/tenant"
)

// This file holds the running applications of a project, which live scans examine.

// Targets is what the API needs of the store for them.
type Targets interface {
	// NewTarget returns a target with a new ID, which its seal is bound to; nothing is stored.
	NewTarget(sc tenant.Scope) livetarget.Target
	CreateTarget(ctx context.Context, sc tenant.Scope, t livetarget.Target) (livetarget.Target, error)
	UpdateTarget(ctx context.Context, sc tenant.Scope, t livetarget.Target) (livetarget.Target, error)
	Targets(ctx context.Context, sc tenant.Scope, page, size int) ([]livetarget.Target, int, error)
	Target(ctx context.Context, sc tenant.Scope, id livetarget.ID) (livetarget.Target, error)
	// SealedTarget returns the target with its sealed secrets, for updates.
	SealedTarget(ctx context.Context, sc tenant.Scope, id livetarget.ID) (livetarget.Target, error)
	// DeleteTarget deletes the target and keeps the findings of its scans.
	DeleteTarget(ctx context.Context, sc tenant.Scope, id livetarget.ID) error
}

// TargetFields are what of a target people enter besides what is secret.
type TargetFields struct {
	Name        string                 `json:"name" minLength:"1" maxLength:"200"`
	Environment livetarget.Environment `json:"environment,omitempty" enum:"staging,production,development" doc:"Default: staging. In production, checks that consume time or memory of the application are skipped."`
	URL         string                 `json:"url" minLength:"1" maxLength:"2000" doc:"Base URL: only URLs below it are scanned. Unique among the targets of a project."`
	Include     []string               `json:"include,omitempty" nullable:"true" maxItems:"200" doc:"Patterns of further in-scope URLs of the application."`
	Exclude     []string               `json:"exclude,omitempty" nullable:"true" maxItems:"200" doc:"Patterns of URLs that are never requested. A pattern is a URL or a path in which * matches any text; without a scheme it matches the path and query on the hosts of the target."`
	Seeds       []string               `json:"seeds,omitempty" nullable:"true" maxItems:"200" doc:"Seed URLs in addition to the base URL."`
	Profile     scan.Profile           `json:"profile,omitempty" enum:"passive,safe,standard,full" doc:"Maximum scan profile. Default: standard."`
	Rate        float64                `json:"rate,omitempty" minimum:"0" maximum:"1000" doc:"Maximum requests per second. 0 for the default of 300."`
	Parallel    int                    `json:"parallel,omitempty" minimum:"0" maximum:"64" doc:"Maximum concurrent requests. 0 for the default of 4."`
	Requests    int                    `json:"requests,omitempty" minimum:"0" doc:"Maximum requests per scan. 0 for the default of 200,000."`
}

// createTargetBody is a target as it is entered.
type createTargetBody struct {
	TargetFields
	Headers      []scan.Header      `json:"headers,omitempty" nullable:"true" maxItems:"50" doc:"Headers sent with every request to the target. Values are encrypted and never returned."`
	Identities   []scan.Identity    `json:"identities,omitempty" nullable:"true" maxItems:"10" doc:"Test users that scans sign in as. Their secrets are encrypted and never returned."`
	Descriptions []scan.Description `json:"descriptions,omitempty" nullable:"true" maxItems:"20" doc:"API descriptions (OpenAPI, Postman, HAR or GraphQL), as text or URL."`
	Templates    []scan.Description `json:"templates,omitempty" nullable:"true" maxItems:"1000" doc:"Templates in the Nuclei format."`
}

// scanTarget returns the target as scans know it.
func (in *createTargetBody) scanTarget() *scan.Target {
	return &scan.Target{
		URL: strings.TrimSpace(in.URL), Include: in.Include, Exclude: in.Exclude, Seeds: in.Seeds, Profile: in.Profile,
		Rate: in.Rate, Parallel: in.Parallel,
		Requests: in.Requests, Headers: in.Headers, Identities: in.Identities, Descriptions: in.Descriptions,
		Templates: in.Templates,
	}
}

// shownIdentity is an identity as responses show it: never a secret.
type shownIdentity struct {
	ShownIdentity
	SecretsSet []string `json:"secretsSet" doc:"Names of the stored secrets."`
}

// ShownIdentity is the identity with its secrets left empty.
type ShownIdentity = scan.Identity

// targetBody is a target as responses show it.
type targetBody struct {
	ID        string           `json:"id" format:"uuid"`
	ProjectID tenant.ProjectID `json:"projectId" format:"uuid"`
	TargetFields
	Headers      []string           `json:"headers" doc:"Names of the headers sent with every request."`
	Identities   []shownIdentity    `json:"identities"`
	Descriptions []scan.Description `json:"descriptions" doc:"Templates without their content."`
	Templates    []scan.Description `json:"templates" doc:"Templates without their content."`
	CreatedAt    time.Time          `json:"createdAt"`
	UpdatedAt    time.Time          `json:"updatedAt"`
}

// showTarget returns the target without its secrets: of headers the names, of identities which secrets
// are stored.
func showTarget(t livetarget.Target) targetBody {
	s := &t.Shown
	profile := s.Profile
	if profile == "" {
		profile = scan.Standard
	}
	out := targetBody{
		ID: string(t.ID), ProjectID: t.Project, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		TargetFields: TargetFields{
			Name: t.Name, Environment: t.Environment, URL: s.URL, Include: endpoint.OrEmpty(s.Include),
			Exclude: endpoint.OrEmpty(s.Exclude),
			Seeds:   endpoint.OrEmpty(s.Seeds),
			Profile: profile, Rate: s.Rate, Parallel: s.Parallel, Requests: s.Requests,
		},
		Headers:      endpoint.Convert(s.Headers, func(h scan.Header) string { return h.Name }),
		Descriptions: endpoint.OrEmpty(s.Descriptions), Templates: endpoint.OrEmpty(s.Templates),
	}
	out.Identities = endpoint.Convert(s.Identities, func(i scan.Identity) shownIdentity {
		return shownIdentity{i, endpoint.OrEmpty(t.Kept[i.Name])}
	})
	return out
}

// targetOutput is one target.
type targetOutput struct{ Body targetBody }

// createTargetInput is a new target of a project.
type createTargetInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      createTargetBody
}

// CreateTarget stores a target of a project.
func (a *Handlers) CreateTarget(ctx context.Context, sc tenant.Scope, in *createTargetInput) (*targetOutput, error) {
	t := a.Targets.NewTarget(sc)
	t.Name, t.Environment = strings.TrimSpace(in.Body.Name), in.Body.Environment
	if t.Environment == "" {
		t.Environment = livetarget.Environments[0]
	}
	whole := in.Body.scanTarget()
	// Validated before it is sealed, so that every sealed target is valid.
	if err := livetarget.Validate(t.Name, t.Environment, whole); err != nil {
		return nil, err
	}
	if err := t.Seal(a.Box, whole); err != nil {
		return nil, err
	}
	t, err := a.Targets.CreateTarget(ctx, sc, t)
	if err != nil {
		return nil, err
	}
	return &targetOutput{showTarget(t)}, nil
}

// TargetInput names a target of a project.
type TargetInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	TargetID  string `path:"targetId" format:"uuid"`
}

// targetID returns the identifier that the address names.
func (p TargetInput) targetID() (livetarget.ID, error) {
	id, err := tenant.ParseID("targetId", p.TargetID)
	return livetarget.ID(id), err
}

// TargetAt returns the target that an address names.
func (a *Handlers) TargetAt(ctx context.Context, sc tenant.Scope, p TargetInput) (livetarget.Target, error) {
	id, err := p.targetID()
	if err != nil {
		return livetarget.Target{}, err
	}
	return a.Targets.Target(ctx, sc, id)
}

// GetTarget responds with a target, without its secrets.
func (a *Handlers) GetTarget(ctx context.Context, sc tenant.Scope, in *TargetInput) (*targetOutput, error) {
	t, err := a.TargetAt(ctx, sc, *in)
	if err != nil {
		return nil, err
	}
	return &targetOutput{showTarget(t)}, nil
}

// listTargetsInput selects a page of targets.
type listTargetsInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	endpoint.ClampedPage
}

// targetsOutput is a page of targets.
type targetsOutput struct {
	Body struct {
		Targets      []targetBody `json:"targets"`
		TotalTargets int          `json:"totalTargets"`
		TotalPages   int          `json:"totalPages"`
		CurrentPage  int          `json:"currentPage"`
		PageSize     int          `json:"pageSize"`
	}
}

// ListTargets lists the targets of a project by name.
func (a *Handlers) ListTargets(ctx context.Context, sc tenant.Scope, in *listTargetsInput) (*targetsOutput, error) {
	page, size := in.Get()
	found, total, err := a.Targets.Targets(ctx, sc, page, size)
	if err != nil {
		return nil, err
	}
	out := &targetsOutput{}
	out.Body.Targets = endpoint.Convert(found, showTarget)
	out.Body.TotalTargets, out.Body.TotalPages, out.Body.CurrentPage, out.Body.PageSize = total,
		endpoint.Pages(total, size),
		page, size
	return out, nil
}

// updateTargetInput changes what it names; what is left out stays.
type updateTargetInput struct {
	TargetInput
	Body struct {
		Name         *string                 `json:"name,omitempty"`
		Environment  *livetarget.Environment `json:"environment,omitempty"`
		URL          *string                 `json:"url,omitempty"`
		Include      *[]string               `json:"include,omitempty"`
		Exclude      *[]string               `json:"exclude,omitempty"`
		Seeds        *[]string               `json:"seeds,omitempty"`
		Profile      *scan.Profile           `json:"profile,omitempty"`
		Rate         *float64                `json:"rate,omitempty"`
		Parallel     *int                    `json:"parallel,omitempty"`
		Requests     *int                    `json:"requests,omitempty"`
		Headers      *[]scan.Header          `json:"headers,omitempty" doc:"Replaces all headers. A header without a value keeps its stored value, as long as the base URL and the other headers do not change."`
		Identities   *[]scan.Identity        `json:"identities,omitempty" doc:"Replaces all identities. An omitted secret is kept for the identity of the same name as long as it is sent to the same URL; otherwise it is required."`
		Descriptions *[]scan.Description     `json:"descriptions,omitempty" doc:"Replaces all descriptions. A description without text and URL keeps its stored text."`
		Templates    *[]scan.Description     `json:"templates,omitempty" doc:"Replaces all templates, as for descriptions."`
	}
}

// applyTo puts what the request names into the target.
func (in *updateTargetInput) applyTo(t *livetarget.Target, whole *scan.Target) {
	b := &in.Body
	endpoint.Assign(&t.Name, b.Name)
	endpoint.Assign(&t.Environment, b.Environment)
	endpoint.Assign(&whole.URL, b.URL)
	endpoint.Assign(&whole.Include, b.Include)
	endpoint.Assign(&whole.Exclude, b.Exclude)
	endpoint.Assign(&whole.Seeds, b.Seeds)
	endpoint.Assign(&whole.Profile, b.Profile)
	endpoint.Assign(&whole.Rate, b.Rate)
	endpoint.Assign(&whole.Parallel, b.Parallel)
	endpoint.Assign(&whole.Requests, b.Requests)
	endpoint.Assign(&whole.Headers, b.Headers)
	endpoint.Assign(&whole.Identities, b.Identities)
	endpoint.Assign(&whole.Descriptions, b.Descriptions)
	endpoint.Assign(&whole.Templates, b.Templates)
	t.Name, whole.URL = strings.TrimSpace(t.Name), strings.TrimSpace(whole.URL)
}

// UpdateTarget changes a target. What was secret and is sent elsewhere now has to be
// given again.
func (a *Handlers) UpdateTarget(ctx context.Context, sc tenant.Scope, in *updateTargetInput) (*targetOutput, error) {
	id, err := in.targetID()
	if err != nil {
		return nil, err
	}
	t, err := a.Targets.SealedTarget(ctx, sc, id)
	if err != nil {
		return nil, err
	}
	stored, err := t.Open(a.Box)
	if err != nil {
		return nil, err
	}
	next, _ := livetarget.RedactSecrets(stored) // every secret is taken over by the same rule
	// Redaction removed the texts of descriptions and templates; without a new list the stored
	// ones stay.
	if in.Body.Descriptions == nil {
		next.Descriptions = slices.Clone(stored.Descriptions)
	}
	if in.Body.Templates == nil {
		next.Templates = slices.Clone(stored.Templates)
	}
	in.applyTo(&t, &next)
	// A stored secret is only taken over for the same destination: a caller who may change the
	// URL could otherwise have the secret sent to a host of their own (CWE-522).
	if err := livetarget.MergeSecrets(&next, stored); err != nil {
		return nil, err
	}
	if err := livetarget.Validate(t.Name, t.Environment, &next); err != nil {
		return nil, err
	}
	if err := t.Seal(a.Box, &next); err != nil {
		return nil, err
	}
	if t, err = a.Targets.UpdateTarget(ctx, sc, t); err != nil {
		return nil, err
	}
	return &targetOutput{showTarget(t)}, nil
}

// DeleteTarget removes a target.
func (a *Handlers) DeleteTarget(ctx context.Context, sc tenant.Scope,
	in *TargetInput) (*endpoint.OutcomeOutput, error) {
	id, err := in.targetID()
	if err != nil {
		return nil, err
	}
	if err := a.Targets.DeleteTarget(ctx, sc, id); err != nil {
		return nil, err
	}
	return endpoint.NewOutcome("Target deleted; its findings are kept"), nil
}
