// Command merlon finds, explains, ranks and tracks security flaws in software.
// It is the service, its workers and its command line in one program.
package main

import (
	"os"

	"merlon/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
