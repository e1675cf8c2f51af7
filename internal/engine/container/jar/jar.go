// Package jar names the Maven packages in Java archives: what the build wrote into them
// (META-INF/maven/…/pom.properties), else what the manifest and the name of the file say.
// Archives within archives, as in a WAR or a Spring Boot application, are read as well.
//
// The order of sources and the guesses are those of the java/archive extractor of
// osv-scalibr, so that packages match the names in advisories. That extractor also resolves
// pom.xml files over the network, with 2.4 MB of clients that a scan never uses.
package jar

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	maxDepth = 8       // archives within each other
	minSize  = 30      // bytes; an empty archive has 22
	maxText  = 8 << 20 // bytes of a manifest, which lists each file of a signed archive
)

// A Package is one that an archive contains.
type Package struct {
	Name    string // GROUP:ARTIFACT
	Version string
}

// extensions are those of Java archives, in lower case.
var extensions = []string{".jar", ".war", ".ear", ".jmod", ".par", ".sar", ".jpi", ".hpi", ".lpkg", ".nar"}

// IsArchive reports whether a file has the name of a Java archive.
func IsArchive(name string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// Read returns the packages of the archive at the path. It opens at most maxOpened bytes
// of it and of those within it. An error comes with the packages of the rest.
func Read(ctx context.Context, name string, r io.ReaderAt, size, maxOpened int64) ([]Package, error) {
	if size > maxOpened {
		return nil, fmt.Errorf("the archive has more than %d bytes", maxOpened)
	}
	o := opener{ctx: ctx, left: maxOpened}
	return o.readArchive(name, r, size, 1)
}

// An opener opens an archive and those within it.
type opener struct {
	ctx  context.Context
	left int64 // bytes of archives that may still be opened
}

// contents is what was found in one archive, by source.
type contents struct {
	inner, pom, manifest []Package
	errs                 []error
}

// readArchive returns the packages of an archive.
func (o *opener) readArchive(name string, r io.ReaderAt, size int64, depth int) ([]Package, error) {
	if size < minSize {
		return nil, nil
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var c contents
	for _, f := range z.File {
		if err := o.ctx.Err(); err != nil {
			return c.inner, err
		}
		if err := o.readFile(&c, f, depth); err != nil {
			c.errs = append(c.errs, fmt.Errorf("%s: %s: %w", name, f.Name, err))
		}
	}
	return c.packages(name), errors.Join(c.errs...)
}

// readFile adds what a file of an archive says.
func (o *opener) readFile(c *contents, f *zip.File, depth int) error {
	switch base := path.Base(f.Name); {
	case base == "pom.properties":
		p, err := readProperties(f)
		if err == nil && p.isValid() {
			c.pom = append(c.pom, p.toPackage())
		}
		return err
	case strings.EqualFold(base, "manifest.mf"):
		p, err := readManifest(f)
		if err == nil && p.isComplete() {
			c.manifest = append(c.manifest, p.toPackage())
		}
		return err
	case IsArchive(f.Name):
		found, err := o.readInner(f, depth+1)
		c.inner = append(c.inner, found...)
		return err
	}
	return nil
}

// readInner reads an archive within an archive into memory: its entries are found from its
// end.
func (o *opener) readInner(f *zip.File, depth int) ([]Package, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d archives within each other", maxDepth)
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	b, err := io.ReadAll(io.LimitReader(r, o.left+1))
	if err != nil {
		return nil, err
	}
	if o.left -= int64(len(b)); o.left < 0 {
		o.left = 0
		return nil, errors.New("the archives within it are too large")
	}
	return o.readArchive(f.Name, bytes.NewReader(b), int64(len(b)), depth)
}

// packages returns the packages of an archive with this name. What the build wrote counts.
// Without it, the name of the file says artifact and version, and the manifest the group;
// without a version in the name, the manifest says all.
func (c *contents) packages(name string) []Package {
	out := append(c.inner, c.pom...)
	if len(c.pom) > 0 {
		return out
	}
	p, ok := parseFileName(name)
	if !ok {
		return append(out, c.manifest...)
	}
	if len(c.manifest) == 1 {
		p.group, _, _ = strings.Cut(c.manifest[0].Name, ":")
	}
	return append(out, p.toPackage())
}

// coordinates identify a Maven package.
type coordinates struct{ group, artifact, version string }

// toPackage names the package that Maven has under the coordinates.
func (c coordinates) toPackage() Package {
	return Package{Name: c.group + ":" + c.artifact, Version: c.version}
}

// isComplete reports whether no part is missing.
func (c coordinates) isComplete() bool { return c.group != "" && c.artifact != "" && c.version != "" }

// isValid reports whether the parts are complete and without spaces.
func (c coordinates) isValid() bool {
	return c.isComplete() && !strings.Contains(c.group+c.artifact+c.version, " ")
}
