package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"merlon/internal/errs"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file scans a running API from the command line.

// apiCommand scans an API by its description.
type apiCommand struct {
	OpenAPI  []string `name:"openapi" placeholder:"FILE" help:"API description, a file or URL: OpenAPI or Swagger, Postman collection, HAR, or a GraphQL schema or introspection result. May be repeated. Default: searched for on the target."`
	Identity []string `type:"path" placeholder:"FILE" help:"JSON file with identities to sign in as, like --auth. May be repeated. The first identity explores; the access of all is compared."`

	liveOptions `embed:""`
}

// Help is the manual of the command.
func (apiCommand) Help() string {
	return `Scan only APIs that you own or are allowed to scan.

The report lists each operation of the description as reached, refused or not reached,
with the reason.

` + liveHelp
}

// Run examines the API and decides the exit code.
// Descriptions are read here and not by the scan, which has no access to files of this machine.
// Those behind a URL are fetched by the scan, within its scope and limits.
func (c *apiCommand) Run(ctx context.Context, host Host) error {
	target, err := c.readTarget(host)
	if err != nil {
		return err
	}
	for _, path := range c.Identity {
		identities, err := readIdentities(host, path)
		if err != nil {
			return err
		}
		target.Identities = append(target.Identities, identities...)
	}
	// All identities are kept: authorization tests compare what they may do.
	for _, name := range c.OpenAPI {
		d, err := readDescription(name)
		if err != nil {
			return err
		}
		target.Descriptions = append(target.Descriptions, d)
	}
	return scanLive(ctx, host, liveScan{target: target, analysis: finding.API, time: c.Time, browser: c.Browser,
		source: c.Source, guest: c.Guest, findings: c.Findings, oast: c.oastOptions, format: c.Format, report: c.reportOptions})
}

// readDescription reads a description, or leaves it to the scan where it is an address.
// The size is checked before reading; a description above the limit is an error of the user.
func readDescription(name string) (scan.Description, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return scan.Description{Name: name, URL: name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return scan.Description{}, errs.Wrap(errs.Invalid, err, "cannot read %s", name)
	}
	if info.Size() > maxTargetFile {
		return scan.Description{}, errs.E(errs.Invalid, "%s is larger than %d bytes", name, maxTargetFile)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return scan.Description{}, errs.Wrap(errs.Invalid, err, "cannot read %s", name)
	}
	return scan.Description{Name: filepath.Base(name), Text: string(text)}, nil
}
