//go:build unix

package cli

import (
	"os"
	"syscall"
)

// lockFile waits until nobody else has the lock of the name, and takes it. It
// ends with the process at the latest.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close() // the first error tells more
		return nil, err
	}
	return func() { _ = f.Close() }, nil // which unlocks
}
