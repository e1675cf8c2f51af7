package sandbox

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// This file keeps open files from programs that are started.

// maxDescriptor is higher than any descriptor.
const maxDescriptor = 1<<31 - 1

// CloseInherited has every program that this process starts from now on inherit none of
// the descriptors that are open now, except the standard ones. Go opens its own files
// that way; others may come from whoever started this process, or from C.
func CloseInherited() error { return closeOnExec(3, maxDescriptor) }

// closeOnExec marks the descriptors from first to last, so that execve closes them.
func closeOnExec(first, last int) error {
	err := unix.CloseRange(uint(first), uint(last), unix.CLOSE_RANGE_CLOEXEC)
	if err == nil || !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
		if err != nil {
			err = fmt.Errorf("keep descriptors from programs: %w", err)
		}
		return err
	}
	// Before Linux 5.11, or where a container refuses the call: one after the other.
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	const most = 1 << 20
	for fd := first; fd <= last && fd < int(min(limit.Cur, most)); fd++ {
		unix.CloseOnExec(fd) // most are not open
	}
	return nil
}
