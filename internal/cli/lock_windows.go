package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits until nobody else has the lock of the name, and takes it. It
// ends with the process at the latest.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0,
		&windows.Overlapped{}); err != nil {
		_ = f.Close() // the first error tells more
		return nil, err
	}
	return func() { _ = f.Close() }, nil // which unlocks
}
