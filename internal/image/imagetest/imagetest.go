// Package imagetest assembles container images for tests.
package imagetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// A File is an entry of a layer: a regular file with mode 0644 unless it says
// otherwise.
type File struct {
	Name, Content string
	Mode          int64
	Type          byte // as in archive/tar
	Link          string
	UID           int
}

// A Layer is a step of the build with the files that it adds; a step without files
// makes no layer.
type Layer struct {
	Step  string
	Files []File
	Zstd  bool
}

// Tar returns the files as a tar file.
func Tar(t testing.TB, files []File) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Mode: f.Mode, Typeflag: f.Type, Linkname: f.Link, Uid: f.UID}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(f.Content))
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, f.Content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Build returns an image of the layers with the configuration.
func Build(t testing.TB, config v1.Config, layers ...Layer) v1.Image {
	t.Helper()
	img := v1.Image(empty.Image)
	for _, l := range layers {
		add := mutate.Addendum{History: v1.History{CreatedBy: l.Step, EmptyLayer: len(l.Files) == 0}}
		if len(l.Files) > 0 {
			add.Layer = layer(t, l)
		}
		var err error
		if img, err = mutate.Append(img, add); err != nil {
			t.Fatal(err)
		}
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	file = file.DeepCopy()
	file.Config, file.OS, file.Architecture = config, "linux", "amd64"
	if img, err = mutate.ConfigFile(img, file); err != nil {
		t.Fatal(err)
	}
	return img
}

func layer(t testing.TB, l Layer) v1.Layer {
	t.Helper()
	content := Tar(t, l.Files)
	if l.Zstd {
		return zstdLayer(t, content)
	}
	out, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	},
		tarball.WithCompressionLevel(gzip.BestSpeed))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compressed is a layer whose digest is that of a tar file which is stored otherwise.
type compressed struct {
	v1.Layer
	diff v1.Hash
}

// DiffID implements v1.Layer.
func (c compressed) DiffID() (v1.Hash, error) { return c.diff, nil }

func zstdLayer(t testing.TB, content []byte) v1.Layer {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	diff, _, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return compressed{static.NewLayer(w.EncodeAll(content, nil), types.OCILayerZStd), diff}
}

// Save writes the image as "docker save" does and returns the path of the tarball.
func Save(t testing.TB, img v1.Image, reference string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "image.tar")
	tag, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(at, tag, img); err != nil {
		t.Fatal(err)
	}
	return at
}

// Layout writes the images as one OCI layout and returns its folder. Each has a
// reference and a platform, which may be empty.
func Layout(t testing.TB, images map[string]v1.Image) string {
	t.Helper()
	at := t.TempDir()
	l, err := layout.Write(at, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for reference, img := range images {
		if err := l.AppendImage(img,
			layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": reference})); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// Pack returns the path of a tarball of the folder.
func Pack(t testing.TB, dir string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "layout.tar")
	f, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return at
}
