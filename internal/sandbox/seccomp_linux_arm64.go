package sandbox

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_AARCH64

// refusedHere are calls that only some architectures have.
var refusedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD}
