// Package examples embeds a small application with known flaws and the few
// vulnerability records that concern it, so that a new deployment has something
// to show. The application is never run.
package examples

import "embed"

// Bookshop is the sample application, below the folder bookshop.
//
//go:embed all:bookshop
var Bookshop embed.FS

// Advisories holds the OSV records that concern the sample application, below the
// folder advisories.
//
//go:embed advisories
var Advisories embed.FS
