package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// This file puts images together from what this machine holds, so that a scanner
// meets real files in real numbers and nothing is fetched.

// An assembly is an image that is being written, as a tarball of docker save.
// Layers are written one after the other; writeImage has to come last, since the manifest names
// them.
type assembly struct {
	file   *os.File
	out    *tar.Writer
	layers []string // names in the tarball
	// diffs are the digests of the uncompressed layers ("sha256:…"), which the configuration
	// lists. steps are the instructions that made them, for the history.
	diffs []string
	steps []string
}

// newAssembly creates the folder of an OCI image layout.
func newAssembly(at string) (*assembly, error) {
	f, err := os.Create(at)
	if err != nil {
		return nil, err
	}
	return &assembly{file: f, out: tar.NewWriter(f)}, nil
}

// A layerWriter takes the files of one layer, up to a number of bytes.
// Writer takes tar entries; what is written goes to zip, compressed, and to diff, which computes
// the digest of the uncompressed layer.
type layerWriter struct {
	*tar.Writer
	zip  *gzip.Writer
	diff hash.Hash
	// Bytes that addTree may still add. The limit keeps the image at about the same size on every
	// machine.
	left int64
}

// writeLayer writes a layer with what fill puts into it.
// The layer goes to a temporary file first: a tar header needs the compressed size, which is
// known at the end only.
func (a *assembly) writeLayer(step string, room int64, fill func(*layerWriter) error) error {
	temp, err := os.CreateTemp(filepath.Dir(a.file.Name()), "layer")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(temp.Close(), os.Remove(temp.Name())) }() // what it held is in the image
	// The size of the tarball does not matter here, the time to write gigabytes does.
	zip, err := gzip.NewWriterLevel(temp, gzip.BestSpeed)
	if err != nil {
		return err
	}
	l := &layerWriter{zip: zip, diff: sha256.New(), left: room}
	// The digest is of the tar stream before compression, as the OCI image specification defines
	// diff_ids.
	l.Writer = tar.NewWriter(io.MultiWriter(l.zip, l.diff))
	if err := fill(l); err != nil {
		return err
	}
	if err := errors.Join(l.Writer.Close(), l.zip.Close()); err != nil {
		return err
	}
	size, err := temp.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	name := fmt.Sprintf("layer%d.tar.gz", len(a.layers))
	if err := a.out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	a.layers, a.steps = append(a.layers, name), append(a.steps, step)
	a.diffs = append(a.diffs, "sha256:"+hex.EncodeToString(l.diff.Sum(nil)))
	_, err = io.Copy(a.out, temp)
	return err
}

// writeImage writes the documents of the image.
// The configuration and manifest.json are those of docker save. One history entry a layer, no
// empty ones.
func (a *assembly) writeImage(name string) error {
	type step struct {
		By string `json:"created_by"`
	}
	var history []step
	for _, s := range a.steps {
		history = append(history, step{s})
	}
	config, err := json.Marshal(map[string]any{"architecture": "amd64", "os": "linux", "history": history,
		// A user other than root, so that the scan does not report the image for running as root.
		"config": map[string]any{"User": "app"}, "rootfs": map[string]any{"type": "layers", "diff_ids": a.diffs}})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": "config.json", "RepoTags": []string{name},
		"Layers": a.layers}})
	if err != nil {
		return err
	}
	for file, b := range map[string][]byte{"config.json": config, "manifest.json": manifest} {
		if err := a.out.WriteHeader(&tar.Header{Name: file, Mode: 0o644, Size: int64(len(b))}); err != nil {
			return err
		}
		if _, err := a.out.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(a.out.Close(), a.file.Close())
}

// addText adds a file with the content.
// addText does not count towards left: such files are small.
func (l *layerWriter) addText(name, content string) error {
	if err := l.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := io.WriteString(l, content)
	return err
}

// addFile adds a file of this machine under the name.
// Links are followed, and owner and time are left out.
func (l *layerWriter) addFile(name, at string) error {
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	f, err := os.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read from
	if err := l.WriteHeader(&tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size()}); err != nil {
		return err
	}
	l.left -= info.Size()
	_, err = io.CopyN(l, f, info.Size())
	return err
}

// addTree adds the regular files below a folder of this machine, while there is room.
// Files are taken in the order of their paths; unreadable ones are left out.
func (l *layerWriter) addTree(root string, skip ...string) error {
	return filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		// Some folders of a system belong to root; the run must work without its rights.
		switch {
		case err != nil && errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skip, at):
			return fs.SkipDir
		// Links, devices and sockets carry no packages and cannot be read as files.
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		// A file above the remaining room is left out and smaller ones after it are still taken.
		if err != nil || info.Size() > l.left {
			return err
		}
		return l.addFile(strings.TrimPrefix(at, "/"), at)
	})
}
