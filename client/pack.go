package client

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// This file packs a folder for an upload.

// A Packing says what to pack.
type Packing struct {
	// The server uses the history, for example to find when a secret was added.
	Git bool // the folders .git too, which hold history and often credentials

	// Packed is called for each file with its path and size; may be nil.
	Packed func(path string, size int64)
}

// A Packed says what was packed.
type Packed struct {
	Files   int
	Bytes   int64    // of the files
	Skipped []string // what could not be read, with the reason
}

// Pack writes the regular files below a folder, hidden ones too, to w as a zip
// archive: names with slashes, relative to the folder. Links and special files
// are left out. A file that cannot be read is left out and told of. It needs
// little memory, whatever the size of the folder.
func Pack(ctx context.Context, w io.Writer, dir string, p Packing) (Packed, error) {
	// A root, so that a link that appears while packing cannot lead outside of the folder.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Packed{}, err
	}
	defer func() { _ = root.Close() }() // was only read
	packer := packer{root: root, zip: zip.NewWriter(w), Packing: p}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return packer.visit(name, d, err)
	})
	if err == nil {
		err = packer.zip.Close()
	}
	return packer.packed, err
}

// A packer writes one archive. root resolves names below the folder, packed counts.
type packer struct {
	Packing
	root   *os.Root
	zip    *zip.Writer
	packed Packed
}

// visit packs an entry of the walk, or records why it cannot be read. Only a missing root ends
// the walk.
func (p *packer) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		if name == "." {
			return err
		}
		p.skip(err)
		return nil
	}
	if d.Name() == ".git" && !p.Git && d.IsDir() {
		return fs.SkipDir
	}
	// Links are left out, since they may point outside of the folder, and devices and pipes would
	// block.
	if !d.Type().IsRegular() {
		return nil
	}
	return p.file(name)
}

// skip records an entry that cannot be read; the scan reports it as a coverage gap.
func (p *packer) skip(err error) { p.packed.Skipped = append(p.packed.Skipped, err.Error()) }

// file packs one file. Reading it may fail; writing the archive may not.
func (p *packer) file(name string) error {
	f, err := p.root.Open(name)
	if err != nil {
		p.skip(err)
		return nil
	}
	defer func() { _ = f.Close() }() // was only read
	info, err := f.Stat()
	// Stat of the open file: the entry may have been replaced between the walk and the opening.
	if err != nil || !info.Mode().IsRegular() {
		p.skip(errors.Join(err, fmt.Errorf("%s is no regular file any more", name)))
		return nil
	}
	// Zip stores times in steps of two seconds.
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: info.ModTime().Truncate(2 * time.Second)}
	// Permissions of the file are not needed on the server.
	h.SetMode(0o644)
	out, err := p.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	in := &reading{r: f}
	// An error of the writer ends the upload, one of the reader concerns this file only.
	n, err := io.Copy(out, in)
	if in.err != nil {
		p.skip(in.err) // what was read of it is in the archive
	} else if err != nil {
		return err
	}
	p.packed.Files++
	p.packed.Bytes += n
	if p.Packed != nil {
		p.Packed(name, n)
	}
	return nil
}

// A reading remembers that it was the reading that failed.
type reading struct {
	r   io.Reader
	err error
}

// Read implements io.Reader and keeps the error. The end of the file is none.
func (r *reading) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
