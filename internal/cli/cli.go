// Package cli is the command line: one file per command. A command is a function
// of its options and a Host, so that tests run it without a process; what it
// returns decides the exit code.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"merlon/internal/errs"
	"merlon/internal/sandbox"
)

// Exit codes of every command. Only scan, fix and rules use ExitFindings.
// A pipeline relies on them, so they never change their meaning.
const (
	ExitOK = 0 // everything was analyzed; nothing at or above the threshold
	// findings at or above the threshold; invalid rules or failing rule tests; vulnerabilities that remain
	ExitFindings = 1
	ExitFailed   = 2 // something could not be done or analyzed
	ExitUsage    = 3 // wrong options, arguments or settings
)

// A Host is the world as a command sees it.
// Tests give a Host of buffers and maps, so a command is tested without a process.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// printError prints an error to standard error.
func (h Host) printError(text string) {
	_, _ = fmt.Fprintln(h.Stderr, "merlon:", text) // nobody is left to tell
}

// commands is the table of commands; each has its file.
// A new command is a field here and a file with its type.
type commands struct {
	ConfigFile settingsFile `name:"config" placeholder:"FILE" help:"Settings file (docs/configuration.md); also MERLON_CONFIG."`

	Demo       demoCommand       `cmd:"" help:"Run the service with sample data: create a tenant on first start, scan the sample application, and print its findings."`
	Serve      serveCommand      `cmd:"" help:"Run the service: the API, sign-in, and workers."`
	Worker     workerCommand     `cmd:"" help:"Run scans for a service that runs on another machine."`
	Admin      adminCommand      `cmd:"" help:"Administer a deployment on its database."`
	Advisories advisoriesCommand `cmd:"" help:"Import, update, export and inspect vulnerability records."`
	API        apiCommand        `cmd:"" name:"api" help:"Scan a running API, using its description."`
	Config     configCommand     `cmd:"" help:"Print the effective settings without secrets."`
	Dast       dastCommand       `cmd:"" help:"Scan a running web application."`
	Fix        fixCommand        `cmd:"" help:"Upgrade vulnerable packages: show the changes, or write them."`
	Login      loginCommand      `cmd:"" help:"Sign in to a server."`
	Logout     logoutCommand     `cmd:"" help:"Sign out of a server."`
	Rules      rulesCommand      `cmd:"" help:"List built-in rules; validate and test your own."`
	Scan       scanCommand       `cmd:"" help:"Analyze a folder, a file or a container image, locally or on a server."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// An exit is an error that asks for a particular exit code. Its text may be
// empty: then everything has been said.
// It carries the decision of a command through kong, which knows only errors.
type exit struct {
	code int
	text string
}

// Error returns the text for the user.
func (e exit) Error() string { return e.text }

// Main runs the command line of this process and returns its exit code.
// args are without the name of the program.
func Main(args []string) int {
	sandbox.Init() // does not return in a process that is to become a sandboxed program
	// Inherited file descriptors could be an open database or socket of the parent; a sandboxed
	// child must not get them.
	if err := sandbox.CloseInherited(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "merlon:", err) // nobody is left to tell
		return ExitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, args, Host{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv})
}

// Run runs one command and returns its exit code.
func Run(ctx context.Context, args []string, host Host) int {
	var c commands
	set := &settings{getenv: host.Getenv}
	// Twice: here for MERLON_CONFIG, and for --config when kong meets the option.
	if err := set.loadFile(host.Getenv("MERLON_CONFIG")); err != nil {
		return reportError(host, err)
	}
	// No command uses code -1; the value marks the panic that ends the parser.
	stopped := exit{code: -1}
	parser, err := kong.New(&c, kong.Name("merlon"),
		kong.Description("Finds, explains, ranks and tracks security vulnerabilities in software."),
		kong.Writers(host.Stdout, host.Stderr), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(host, set), kong.Resolvers(set),
		kong.Vars{"analyses": analysesText()},
		// --help ends the parser; it must not end a test's process.
		kong.Exit(func(code int) { stopped.code = code; panic(stopped) }),
	)
	if err != nil {
		host.printError(err.Error())
		return ExitUsage
	}
	code := ExitOK
	func() {
		defer func() {
			if r := recover(); r != nil {
				// Any other panic is a bug and has to be seen.
				if r != any(stopped) {
					panic(r)
				}
				code = stopped.code
			}
		}()
		parsed, err := parser.Parse(args)
		if err != nil {
			host.printError(err.Error())
			code = ExitUsage
			return
		}
		code = reportError(host, parsed.Run())
	}()
	return code
}

// reportError prints the error of a command and returns the exit code for it.
// errs.Invalid is a mistake of the user (3); all other errors are failures (2).
func reportError(host Host, err error) int {
	if err == nil {
		return ExitOK
	}
	var e exit
	if errors.As(err, &e) {
		if e.text != "" {
			host.printError(e.text)
		}
		return e.code
	}
	host.printError(err.Error())
	if errs.Is(err, errs.Invalid) {
		return ExitUsage
	}
	return ExitFailed
}
