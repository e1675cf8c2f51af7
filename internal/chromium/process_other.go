//go:build !linux

package chromium

import (
	"errors"
	"os/exec"
)

// errNoIsolation is returned on other systems: without namespaces a page of an attacker could
// reach the network past the proxy.
var errNoIsolation = errors.New("a sandboxed browser is supported only on Linux")

func runUnprivileged(*exec.Cmd, int, chan struct{}) error { return errNoIsolation }

func killGroup(int) {}

func groupMembers(int) []int { return nil }

func memoryOf([]int) int64 { return 0 }
