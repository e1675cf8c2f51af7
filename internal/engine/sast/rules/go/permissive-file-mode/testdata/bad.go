package files

import "os"

func share(path string) error {
	// ruleid: permissive-file-mode
	return os.Chmod(path, 0o777)
}
