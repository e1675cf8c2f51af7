package inventory

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
)

// maxPOM bounds a pom.xml inside of an archive, in bytes.
const maxPOM = 1 << 20

// pomOfJar returns the pom.xml that a jar of Maven carries, or nil.
func pomOfJar(content []byte, name string) []byte {
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	// A forged directory with millions of entries would be indexed by Open.
	if err != nil || len(r.File) > 100_000 {
		return nil
	}
	// An archive that bundles others has several pom.xml; the path selects that of the package.
	group, artifact, _ := strings.Cut(name, ":")
	f, err := r.Open("META-INF/maven/" + group + "/" + artifact + "/pom.xml")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read from
	// The size in the directory is not trusted: a small entry can expand to gigabytes (CWE-409).
	pom, err := io.ReadAll(io.LimitReader(f, maxPOM+1))
	if err != nil || len(pom) > maxPOM {
		return nil
	}
	return pom
}
