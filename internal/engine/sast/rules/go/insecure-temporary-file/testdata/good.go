package report

import "os"

func open() (*os.File, error) {
	// ok: insecure-temporary-file
	return os.CreateTemp("", "report-*.txt")
}
