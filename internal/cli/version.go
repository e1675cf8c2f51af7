package cli

import (
	"fmt"

	"merlon/internal/config"
)

type versionCommand struct{}

// Run prints the version and the commit that the program was built from.
func (versionCommand) Run(host Host) error {
	_, err := fmt.Fprintln(host.Stdout, "merlon", config.Version, config.Commit())
	return err
}
