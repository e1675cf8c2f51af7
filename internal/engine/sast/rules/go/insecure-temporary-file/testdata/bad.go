package report

import "os"

func open() (*os.File, error) {
	// ruleid: insecure-temporary-file
	return os.Create("/tmp/report.txt")
}
