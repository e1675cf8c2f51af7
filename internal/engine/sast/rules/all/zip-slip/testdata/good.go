package zips

import (
	"archive/zip"
	"os"
	"path/filepath"
)

func unpack(r *zip.Reader, dir string) {
	for _, f := range r.File {
		name := f.Name
		if !filepath.IsLocal(name) {
			continue
		}
		os.Create(filepath.Join(dir, name))
	}
}
