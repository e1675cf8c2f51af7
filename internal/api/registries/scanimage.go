package registries

import (
	"context"
	"slices"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/registry/credential"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// This file starts scans of container images.

// Images finds images in registries.
type Images interface {
	// Find returns the names of a public image: NotFound when there is none, Invalid
	// when the text names none.
	Find(ctx context.Context, reference string) (run.Image, error)
	// FindPrivate does the same as the account: also Conflict when the registry does
	// not accept it any more.
	FindPrivate(ctx context.Context, a *credential.Account, name string) (run.Image, error)
}

// findTime bounds how long a registry may take to respond with an image. The caller waits
// for it: an image that does not exist is reported at once, and not by a scan that fails
// later.
const findTime = 30 * time.Second

// startContainerScanInput is the reference of a public image.
type startContainerScanInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		Image  string   `json:"imageToScan" minLength:"1" maxLength:"1000" doc:"Reference of a public image: repository, host/repository:tag or …@sha256:…. Default host: Docker Hub; default tag: latest."`
		Branch string   `json:"branch,omitempty" doc:"Branch. Default: main."`
		Source string   `json:"sourceType,omitempty" doc:"Source of the scan. Default: manual."`
		Types  []string `json:"vulnerabilityTypes,omitempty" doc:"Ignored: an image is always analyzed completely."`
	}
}

// ContainerScan is a scan of an image that was started.
type ContainerScan struct {
	ScanID            string   `json:"scanId" format:"uuid"`
	Message           string   `json:"message"`
	DetectedLanguages []string `json:"detectedLanguages" doc:"Always empty: images are not analyzed per language."`
}

// showContainerScan returns the started scan as responses show it.
func showContainerScan(r run.Run) ContainerScan {
	return ContainerScan{string(r.ID), "Scan of " + r.Image.Reference + " queued", []string{}}
}

// startContainerScanOutput is the response to a scan that was queued.
type startContainerScanOutput struct {
	Body struct {
		Success bool `json:"success"`
		ContainerScan
	}
}

// startedContainerScan returns the response to a scan that was started.
func startedContainerScan(r run.Run) *startContainerScanOutput {
	out := &startContainerScanOutput{}
	out.Body.Success, out.Body.ContainerScan = true, showContainerScan(r)
	return out
}

// StartContainerScan starts a scan of a public image. Nothing is uploaded.
func (a *Handlers) StartContainerScan(ctx context.Context, sc tenant.Scope,
	in *startContainerScanInput) (*startContainerScanOutput, error) {
	asking, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	image, err := a.Images.Find(asking, strings.TrimSpace(in.Body.Image))
	if err != nil {
		return nil, err
	}
	r, err := a.Scans.StartImage(ctx, sc,
		run.Start{Branch: in.Body.Branch, Source: run.Source(strings.ToLower(in.Body.Source))}, image)
	if err != nil {
		return nil, err
	}
	return startedContainerScan(r), nil
}

// RegistryScanOptions are the options of a scan of an image in a registry.
type RegistryScanOptions struct {
	Image      string   `json:"imageName" minLength:"1" maxLength:"600" doc:"Image name from the image list, with or without the registry host: repository, repository:tag or …@sha256:…. Default tag: latest."`
	Branch     string   `json:"branch,omitempty" doc:"Branch. Default: main."`
	Private    bool     `json:"privateScan,omitempty" doc:"Label the image as private in the scan. Does not restrict who can see the results."`
	Severities []string `json:"severities,omitempty" nullable:"true" maxItems:"20" doc:"Severities that the scan opens and resolves findings of: CRITICAL, HIGH, MEDIUM, LOW. Default: all."`
}

// startOptions is what of the options concerns every scan.
func (o *RegistryScanOptions) startOptions() run.Start {
	return run.Start{Branch: o.Branch, Private: o.Private}
}

// parseSeverities reads the list; nil stands for all.
func (o *RegistryScanOptions) parseSeverities() ([]finding.Severity, error) {
	var out []finding.Severity
	for _, text := range o.Severities {
		s := finding.Severity(strings.ToLower(strings.TrimSpace(text)))
		if s.Rank() == 0 {
			return nil, errs.E(errs.Invalid, "invalid severity %q: must be CRITICAL, HIGH, MEDIUM or LOW", text)
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	// All severities are the same as none: the run is stored without a restriction.
	if len(out) == len(finding.Severities) {
		return nil, nil
	}
	return out, nil
}

// startRegistryScanInput is an image and the credential that pulls it.
type startRegistryScanInput struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		CredentialID string `json:"credentialId" format:"uuid" doc:"ID of a registry credential that the project may use."`
		RegistryScanOptions
	}
}

// StartRegistryScan starts a scan of an image in a registry with a stored credential.
func (a *Handlers) StartRegistryScan(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *startRegistryScanInput) (*startContainerScanOutput, error) {
	r, err := a.scanWithCredential(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	return startedContainerScan(r), nil
}

// StartScalewayScan does the same in Scaleway's envelope.
func (a *Handlers) StartScalewayScan(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *startRegistryScanInput) (*scalewayOutput[ContainerScan], error) {
	r, err := a.scanWithCredential(ctx, sc, k, in)
	if err != nil {
		return nil, err
	}
	return inEnvelope(showContainerScan(r)), nil
}

// scanWithCredential starts a scan with a credential that the project may use.
func (a *Handlers) scanWithCredential(ctx context.Context, sc tenant.Scope, k credential.Kind,
	in *startRegistryScanInput) (run.Run, error) {
	account, err := a.openAccount(ctx, sc, k, in.Body.CredentialID)
	if err != nil {
		return run.Run{}, err
	}
	return a.scanWith(ctx, sc, registryScan{account, in.Body.CredentialID, &in.Body.RegistryScanOptions})
}

// A registryScan is a scan that is to be started with an account.
type registryScan struct {
	account    *credential.Account
	credential string // identifier of the stored credential that the account is
	options    *RegistryScanOptions
}

// scanWith asks the registry for the image and starts the scan. The run keeps the
// credential's identifier: the worker opens the credential itself when it fetches.
func (a *Handlers) scanWith(ctx context.Context, sc tenant.Scope, s registryScan) (run.Run, error) {
	severities, err := s.options.parseSeverities()
	if err != nil {
		return run.Run{}, err
	}
	asking, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	image, err := a.Images.FindPrivate(asking, s.account, s.options.Image)
	if err != nil {
		return run.Run{}, err
	}
	image.Credential, image.Severities = s.credential, severities
	return a.Scans.StartImage(ctx, sc, s.options.startOptions(), image)
}
