package files

import "os"

func share(path string) error {
	// ok: permissive-file-mode
	return os.Chmod(path, 0o750)
}

func fresh(path string) error {
	// ok: permissive-file-mode
	return os.MkdirAll(path, 0o755)
}
