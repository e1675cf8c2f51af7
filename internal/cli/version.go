package cli

import (
	"fmt"

	"merlon/internal/config"
	"merlon/internal/notice"
)

type versionCommand struct {
	Licenses     bool `help:"List what the binary contains that others wrote, with versions and licences." xor:"licenses"`
	LicenseTexts bool `help:"Print the copyright notices and licence texts of what the binary contains." xor:"licenses"`
}

// Run prints the version and the commit that the program was built from, or the licences
// of what is built in.
// The licences have to be distributed with the program, so the binary contains them.
func (c versionCommand) Run(host Host) error {
	switch {
	case c.Licenses:
		return notice.WriteList(host.Stdout)
	case c.LicenseTexts:
		return notice.WriteTexts(host.Stdout)
	}
	_, err := fmt.Fprintln(host.Stdout, "merlon", config.Version, config.Commit())
	return err
}
