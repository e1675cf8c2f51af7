// Package config holds the settings of a deployment: one struct, one default
// each, and what the build says of itself.
package config

import "runtime/debug"

// Version is the version of the program.
const Version = "0.1.0"

// commit is set by the build: -ldflags "-X merlon/internal/config.commit=…".
var commit string

// Commit returns the commit that the program was built from, or "unknown".
func Commit() string {
	if commit != "" {
		return commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
