// Command house prints the measurements of the source code below the current
// folder.
package main

import (
	"fmt"
	"os"

	"merlon/test/house"
)

func main() {
	report, err := house.Measure(".")
	if err == nil {
		err = report.Write(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}
