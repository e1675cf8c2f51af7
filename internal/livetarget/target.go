// Package livetarget describes the running applications that a project is responsible
// for and that live scans examine: what people enter about them, which of it is
// secret, and who has shown that a host is theirs.
package livetarget

import (
	"encoding/json"
	"fmt"
	"time"

	"merlon/internal/errs"
	"merlon/internal/scan"
	"merlon/internal/seal"
	"merlon/internal/tenant"
)

// ID identifies a target: a UUID in lower-case text.
type ID string

// An Environment says who works with an application, by its name on the wire.
type Environment string

// Environments lists every environment, the default first. In production nothing is
// tried that takes the application's time or memory.
var Environments = []Environment{"staging", "production", "development"}

// Production is the environment of the same name.
const Production Environment = "production"

// A Target is a running application of a project.
type Target struct {
	ID           ID
	Organization tenant.OrganizationID
	Project      tenant.ProjectID
	Name         string
	Environment  Environment
	// Root is what the paths of its findings begin with. A project has one target of a
	// root: two would take each other's findings for gone.
	Root string
	// Shown is what anybody may see who sees the project: the target without secrets
	// and without the texts of descriptions.
	Shown scan.Target
	// Kept are the names of the secrets that are set, by identity; those of headers of
	// the target stand under the empty name.
	Kept map[string][]string
	// Sealed is the whole target as JSON, sealed for its place. Lists leave it empty.
	Sealed    []byte
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Seal puts the whole target into t: Sealed, Root, and what of it may be shown.
func (t *Target) Seal(box *seal.Box, whole *scan.Target) error {
	text, err := json.Marshal(whole)
	if err != nil {
		return fmt.Errorf("encode a target: %w", err)
	}
	shown, kept := RedactSecrets(whole)
	if err := checkSize(&shown, kept); err != nil {
		return err
	}
	t.Sealed = box.Seal(text, t.Label())
	t.Root = whole.Root()
	t.Shown, t.Kept = shown, kept
	return nil
}

// checkSize returns an Invalid error when what lists show of a target is too large.
func checkSize(shown *scan.Target, kept map[string][]string) error {
	text, err := json.Marshal([]any{shown, kept})
	if err != nil {
		return fmt.Errorf("encode a target: %w", err)
	}
	if len(text) > maxShown {
		return errs.E(errs.Invalid, "the target has %d KiB besides descriptions, templates and secrets; at most %d "+
			"KiB are possible", len(text)>>10, maxShown>>10)
	}
	return nil
}

// Open returns the whole target, secrets included.
func (t *Target) Open(box *seal.Box) (*scan.Target, error) {
	text, err := box.Open(t.Sealed, t.Label())
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", t.ID, err)
	}
	whole := &scan.Target{}
	if err := json.Unmarshal(text, whole); err != nil {
		return nil, fmt.Errorf("target %s: %w", t.ID, err)
	}
	whole.Production = t.Environment == Production
	return whole, nil
}

// Label binds the sealed target to its place.
func (t *Target) Label() string {
	return "target/" + string(t.Organization) + "/" + string(t.Project) + "/" + string(t.ID)
}
