// Package sandbox runs a program with least rights, so that what it reads may be
// hostile. The program sees the files that it is given and nothing else, has no
// network, no credentials, no environment but the one it is given, starts no
// other program, and is held to limits of memory, processor time, files and
// threads. It dies with the process that started it.
//
// There is no supervisor and no daemon. Start runs this very binary again, in
// new namespaces, and Init in that process takes away one right after the other
// before it becomes the program (see stage_linux.go). The layers overlap on
// purpose: the file tree is hidden by a mount namespace and closed by Landlock,
// the network is missing in its namespace and closed by a system call filter. A
// kernel or a container that refuses one of them costs a warning, not the scan.
package sandbox

import (
	"fmt"
	"io"
	"os"
	"time"
)

// FirstFile is the descriptor of the first of Spec.Files in the program.
const FirstFile = 5

// A Spec describes a program and all that it may have.
type Spec struct {
	Path string   // absolute; empty means the running program
	Args []string // without the program's name
	Env  []string // "KEY=value"; the whole environment
	Dir  string   // working folder; empty means the first of ReadOnly, or "/"

	// ReadOnly and ReadWrite are files and folders, absolute. They keep their
	// names inside, also below folders that are closed to others. A program of
	// root runs as nobody: then Start first lets the group nogroup read what is
	// below them, and write what is below ReadWrite.
	ReadOnly  []string
	ReadWrite []string

	Limits         Limits
	Stdout, Stderr io.Writer

	// Files are open files that the program gets, the first as the descriptor
	// FirstFile. They stay open in the caller.
	Files []*os.File

	// Family lets the program start others; nil: it starts none.
	Family *Family

	without map[layer]bool // layers that a test leaves out, to look at the others
}

// A Family is what a program may have that starts others and puts them into namespaces
// of their own, as browsers do. It runs in a process namespace, and everything that it
// has started ends with it. Its network is a loopback of its own, with one listener,
// which the caller has. A system that refuses one of the namespaces, the file tree or the
// filter of system calls gets no such program: what is left would not hold it.
//
// Memory bounds no single process of a family; the caller watches over Process.Members.
type Family struct {
	Programs    []string // files and folders of the system that it may read and run, absolute; the missing are left out
	Scratch     string   // an absolute name for a folder in memory that it may write
	ScratchSize int64    // of the folder, in bytes
	Port        int      // of Process.Listener on the loopback, 127.0.0.1
	In, Out     *os.File `json:"-"` // become its descriptors 3 and 4; they stay open in the caller
}

// Limits bound a program. A limit of zero is the default. How long it may take
// is for the context of Start.
type Limits struct {
	Memory    int64         // bytes of private memory; default 2 GiB
	CPU       time.Duration // processor time of all threads, in whole seconds; default 10 minutes
	Files     int           // files open at once; default 1024
	FileSize  int64         // bytes of a file that is written; default 1 GiB
	Processes int           // threads at once, for there is only one process; default 512
}

// withDefaults returns the limits with defaults for zero fields.
func (l Limits) withDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = 2 << 30
	}
	if l.CPU == 0 {
		l.CPU = 10 * time.Minute
	}
	if l.Files == 0 {
		l.Files = 1024
	}
	if l.FileSize == 0 {
		l.FileSize = 1 << 30
	}
	if l.Processes == 0 {
		l.Processes = 512
	}
	return l
}

// A Result says how a program ended that ended by itself.
type Result struct {
	Code   int           // exit code
	CPU    time.Duration // processor time used
	Memory int64         // most memory resident at once, in bytes
}

// A KilledError says that a program was ended by a signal.
type KilledError struct {
	Signal string // "killed", "segmentation fault"
	Cause  string // for people: which limit, or empty when unknown
	Result        // Code is -1
}

// Error says what ended the program and why.
func (e *KilledError) Error() string {
	if e.Cause != "" {
		return e.Cause
	}
	return fmt.Sprintf("the program was ended by the signal %q", e.Signal)
}

// A layer is one protection.
type layer string

const (
	layerNamespaces layer = "namespaces"
	layerRoot       layer = "root"
	layerLandlock   layer = "landlock"
	layerSeccomp    layer = "seccomp"
)

// stageArg is the hidden first argument of the process that becomes the program.
const stageArg = "sandbox-exec"
