// Package merlon is the root of the module. It holds nothing but the tests that
// enforce the rules of the house; docs/architecture.md says where everything is.
package merlon
