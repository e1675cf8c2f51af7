// Package source pins the module of the KICS project whose queries package kics
// runs. It is a module of its own, so that the many dependencies of that project do
// not decide about the versions that Merlon is built with. Nothing imports it: the
// generator of the library asks the go command where the pinned module is.
package source

import _ "github.com/Checkmarx/kics/v2/assets" // keeps the requirement in go.mod
