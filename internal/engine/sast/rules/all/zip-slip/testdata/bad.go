package zips

import (
	"archive/zip"
	"os"
	"path/filepath"
)

func unpack(r *zip.Reader, dir string) {
	for _, f := range r.File {
		// ruleid: zip-slip
		os.Create(filepath.Join(dir, f.Name))
	}
}
