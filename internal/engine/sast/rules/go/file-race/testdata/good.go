package files

import "os"

func begin(path string) (*os.File, error) {
	// ok: file-race
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}
