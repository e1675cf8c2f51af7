// Package all lists the analyzers of this build. The list is generated: an
// analyzer is one folder below internal/engine and one line here, which
// "go generate ./internal/engine/all" writes.
package all

//go:generate go run ./generate
