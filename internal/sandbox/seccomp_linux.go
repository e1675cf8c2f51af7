//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file filters system calls (seccomp(2)). It is a list of what is refused,
// not of what is allowed: the program is ours and its runtimes change. The list
// holds the network, other processes, and the parts of the kernel in which an
// unprivileged program most often finds a way out.

// refusedAlone are the calls that fail with EPERM in a program that starts no other, beside
// those that fail in all.
var refusedAlone = []uint32{
	// Network: no socket, whatever namespaces there are, and no new use of one that the
	// program was given.
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT4,
	// Namespaces: a browser puts its own programs into some.
	unix.SYS_UNSHARE, unix.SYS_CHROOT,
}

// refused are the calls that fail with EPERM.
var refused = append([]uint32{
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_PIDFD_OPEN, unix.SYS_KCMP, unix.SYS_PERF_EVENT_OPEN,
	// Namespaces and mounts.
	unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	// The kernel itself.
	unix.SYS_BPF, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_SYSLOG, unix.SYS_PERSONALITY, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT, unix.SYS_VHANGUP, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_SHMGET,
}, refusedHere...)

// domains are the kinds of sockets that a Family may have: local ones, those of its own
// network, and questions about it. Others, such as those to the host of a virtual
// machine (vsock(7)), belong to no network namespace.
var domains = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// filterCalls puts the thread, and what it becomes, under the filter.
func filterCalls(family bool) error {
	program := callFilter(family)
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// callFilter writes the filter. Its input is struct seccomp_data: the number of
// the call at 0, the architecture at 4, the arguments from 16.
func callFilter(family bool) []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anySet  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret     = unix.BPF_RET | unix.BPF_K
		eperm   = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		enosys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	)
	f := []unix.SockFilter{
		{Code: load, K: 4},
		{Code: equal, Jt: 1, K: architecture},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: 0},
		// The second set of numbers of amd64, x32; no other number is that high.
		{Code: atLeast, Jf: 1, K: 0x40000000},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		// Threads, but no processes. The arguments of clone3 cannot be seen: without
		// it the C library falls back to clone.
		{Code: equal, Jf: 1, K: unix.SYS_CLONE3},
		{Code: ret, K: enosys},
	}
	calls := refused
	if family {
		f = append(f, unix.SockFilter{Code: equal, Jf: uint8(len(domains) + 3), K: unix.SYS_SOCKET},
			unix.SockFilter{Code: load, K: 16})
		for n, domain := range domains {
			f = append(f, unix.SockFilter{Code: equal, Jt: uint8(len(domains) - n), K: domain})
		}
		f = append(f, unix.SockFilter{Code: ret, K: eperm}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	} else {
		calls = append(slices.Clone(refusedAlone), calls...)
		f = append(f,
			unix.SockFilter{Code: equal, Jf: 4, K: unix.SYS_CLONE},
			unix.SockFilter{Code: load, K: 16},
			unix.SockFilter{Code: anySet, Jf: 1, K: unix.CLONE_THREAD},
			unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
			unix.SockFilter{Code: ret, K: eperm})
	}
	for _, call := range calls {
		f = append(f, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: ret, K: eperm})
	}
	return append(f, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}
