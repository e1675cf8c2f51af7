package api

import (
	"context"
	"strings"
	"time"

	"merlon/internal/run"
	"merlon/internal/tenant"
)

// This file starts scans of container images.

// Images finds images in registries.
type Images interface {
	// Find returns the names of a public image: NotFound when there is none, Invalid
	// when the text names none.
	Find(ctx context.Context, reference string) (run.Image, error)
}

// findTime bounds how long a registry may take to tell of an image.
const findTime = 30 * time.Second

type startContainerScanIn struct {
	ProjectID string `path:"projectId" format:"uuid"`
	Body      struct {
		Image  string   `json:"imageToScan" minLength:"1" maxLength:"1000" doc:"Name of a public image: repository, host/repository:tag or …@sha256:…. Without a host it is of the public hub, without a tag it is latest."`
		Branch string   `json:"branch,omitempty" doc:"Default: main."`
		Source string   `json:"sourceType,omitempty" doc:"What started the scan. Default: manual."`
		Types  []string `json:"vulnerabilityTypes,omitempty" doc:"Not used: an image is always examined as a whole."`
	}
}

type startContainerScanOut struct {
	Body struct {
		Success           bool     `json:"success"`
		Message           string   `json:"message"`
		ScanID            string   `json:"scanId" format:"uuid"`
		DetectedLanguages []string `json:"detectedLanguages" doc:"Empty: an image is not scanned by language."`
	}
}

// startContainerScan starts a scan of a public image. Nothing is uploaded.
func (a *API) startContainerScan(ctx context.Context, sc tenant.Scope, in *startContainerScanIn) (*startContainerScanOut, error) {
	asking, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	image, err := a.Images.Find(asking, strings.TrimSpace(in.Body.Image))
	if err != nil {
		return nil, err
	}
	r, err := a.Scans.StartImage(ctx, sc, run.Start{Branch: in.Body.Branch, Source: run.Source(strings.ToLower(in.Body.Source))}, image)
	if err != nil {
		return nil, err
	}
	out := &startContainerScanOut{}
	out.Body.Success, out.Body.ScanID, out.Body.DetectedLanguages = true, string(r.ID), []string{}
	out.Body.Message = image.Reference + " waits to be fetched and scanned"
	return out, nil
}
