package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// This file reads subcharts that are packed, as "helm package" does: a tar with
// gzip and one folder with the chart's name.

// addArchive adds the packed subchart to the chart.
func (l *loader) addArchive(c *Chart, f file, depth int) {
	files, err := l.unpackArchive(f)
	if err != nil {
		l.addProblem(f.path, "read packed chart: %v", err)
		return
	}
	sub, err := l.assembleChart(strings.TrimSuffix(f.path, ".tgz"), files, depth+1)
	if err != nil {
		l.addProblem(f.path, "%v", err)
		return
	}
	sub.setArchive(f.path)
	c.present = append(c.present, sub)
}

// setArchive says of the chart and its subcharts which archive has them.
func (c *Chart) setArchive(archive string) {
	c.archive = archive
	for _, sub := range c.children {
		sub.chart.setArchive(archive)
	}
}

// unpackArchive returns the files of a packed chart, with names relative to the chart.
func (l *loader) unpackArchive(f file) ([]file, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(f.data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	defer func() { _ = zipped.Close() }() // what was read is checked by its own sum
	var files []file
	// The limit counts also what is skipped, so that nothing unpacks without end.
	for r := tar.NewReader(io.LimitReader(zipped, maxBytes)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("tar: %w", err)
		}
		// Names are only compared and never written to disk; "../" in them is dropped all the same.
		name := path.Clean(h.Name)
		_, name, ok := strings.Cut(name, "/")
		// Links have no content, and the first folder, the name of the chart, is cut off.
		if h.Typeflag != tar.TypeReg || !ok || !fs.ValidPath(name) {
			continue
		}
		if l.files--; l.files < 0 {
			return nil, fmt.Errorf("the chart has more than %d files", maxFiles)
		}
		data, err := l.readLimited(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file{name: name, path: f.path, data: data})
	}
}
