package files

import "os"

func begin(path string, text []byte) error {
	// ruleid: file-race
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return os.WriteFile(path, text, 0o600)
	}
	return nil
}
