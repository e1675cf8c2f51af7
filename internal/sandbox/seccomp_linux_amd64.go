package sandbox

import "golang.org/x/sys/unix"

const architecture = unix.AUDIT_ARCH_X86_64

// refusedHere are calls that only some architectures have.
var refusedHere = []uint32{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_USELIB, unix.SYS_MODIFY_LDT}
