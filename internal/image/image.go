// Package image reads container images from the disk: the tarball that
// "docker save" writes, an OCI layout in a folder, and one in a tarball
// (https://github.com/opencontainers/image-spec/blob/main/image-layout.md). It
// opens nothing else, asks no daemon and makes no request.
//
// An image is somebody else's and may be hostile: every document, every layer and
// the number of entries have limits, and no name in it is ever opened on the host.
package image

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"merlon/internal/errs"
)

// Limits of the documents of an image.
const (
	// Manifests have a few kilobytes; a configuration grows with the number of layers.
	maxDocument = 8 << 20 // bytes of a manifest, an index or a configuration
	maxLayers   = 4096
	maxHistory  = 16384
	// An index of several platforms has one level; an index inside of it is rare.
	maxNesting = 4 // indexes inside of each other
)

// Options say which image of an archive is meant.
type Options struct {
	// Name chooses among several images: the reference under which one was saved.
	// It may be empty when there is one.
	Name string
	// Platform chooses among the images of several platforms, as "linux/arm64" or
	// "linux/arm/v7". Empty: the only one, else linux/amd64.
	Platform string
}

// An Image is an open image. Its layers may be walked one after the other or at
// once.
type Image struct {
	// Name is the reference under which the image was saved; it may be empty.
	Name string
	// Digest is that of the manifest, "sha256:…"; a tarball of the older form has
	// none, and then it is empty.
	Digest string
	// ID is the digest of the configuration, which names the image on a host.
	ID string
	// Platform is "os/architecture" or "os/architecture/variant".
	Platform string
	// Config is what the image says of itself.
	Config *v1.ConfigFile
	// Annotations are those of the manifest.
	Annotations map[string]string
	// Layers are the file systems, lowest first.
	Layers []Layer
	// History is how the image says that it was built, oldest first.
	History []Instruction

	store store
}

// An Instruction is one step of the history.
type Instruction struct {
	Text  string // as the image tells it
	Layer int    // index of the layer that it made, or -1
	Base  bool   // belongs to the image that this one was built from
}

// A Layer is one file system of an image, as a difference to those below.
type Layer struct {
	Index       int
	Digest      string // of its content uncompressed, which does not depend on how it was stored
	Instruction string // that made it; empty when the image does not tell
	Base        bool   // belongs to the image that this one was built from
	Size        int64  // bytes as stored

	blob  string // its name in the store
	store store
}

// Open opens the image at the path: a folder or a file. The error is
// errs.Invalid when there is no image that can be read, with what was found.
func Open(ctx context.Context, at string, o Options) (*Image, error) {
	s, err := openStore(ctx, at)
	if err != nil {
		return nil, err
	}
	img, err := load(s, o)
	if err != nil {
		_ = s.Close() // the first error is the one to tell
		return nil, err
	}
	return img, nil
}

// Close ends the access to the image.
func (i *Image) Close() error { return i.store.Close() }

// load reads the documents of the image.
func load(s store, o Options) (*Image, error) {
	img := &Image{store: s}
	var layers []layerBlob
	var err error
	switch {
	// Recent versions of docker save write both files; the layout has the digests of the
	// content.
	case s.has("index.json"):
		layers, err = img.fromIndex(o)
	case s.has("manifest.json"):
		layers, err = img.fromSaved(o)
	default:
		return nil, errs.E(errs.Invalid, "this is no container image: it has neither index.json (OCI layout) nor "+
			"manifest.json (docker save)")
	}
	if err != nil {
		return nil, err
	}
	// The digests of the uncompressed layers name them in findings; without one for each the
	// list is inconsistent and may be forged.
	if n := len(img.Config.RootFS.DiffIDs); n != len(layers) {
		return nil, errs.E(errs.Invalid, "the image has %d layers, and its configuration declares %d", len(layers), n)
	}
	if len(layers) > maxLayers || len(img.Config.History) > maxHistory {
		return nil, errs.E(errs.TooLarge, "the image has %d layers and a history of %d steps; %d and %d "+
			"are read", len(layers), len(img.Config.History), maxLayers, maxHistory)
	}
	for n, l := range layers {
		img.Layers = append(img.Layers, Layer{Index: n, Digest: img.Config.RootFS.DiffIDs[n].String(), Size: l.size,
			blob: l.blob, store: s})
	}
	img.Platform = platformText(img.Config.Platform())
	img.tellHistory()
	return img, nil
}

// layerBlob is a layer as a manifest names it.
type layerBlob struct {
	blob string
	size int64
}

// tellHistory joins the steps of the history with the layers that they made.
func (i *Image) tellHistory() {
	made := 0
	for _, h := range i.Config.History {
		step := Instruction{Text: h.CreatedBy, Layer: -1}
		if !h.EmptyLayer {
			step.Layer = made
			made++
		}
		i.History = append(i.History, step)
	}
	if made != len(i.Layers) { // the history does not belong to these layers
		for n := range i.History {
			i.History[n].Layer = -1
		}
		return
	}
	i.markBase()
	for _, h := range i.History {
		if h.Layer >= 0 {
			i.Layers[h.Layer].Instruction, i.Layers[h.Layer].Base = h.Text, h.Base
		}
	}
}

// markBase guesses where the image begins that this one was built from. Such an
// image nearly always ends with what it runs (CMD or ENTRYPOINT), so the last such
// instruction that has a layer above it ends the base.
func (i *Image) markBase() {
	last := len(i.History) - 1
	for last >= 0 && i.History[last].Layer < 0 {
		last--
	}
	// The CMD of the image itself is behind its last layer and was skipped above.
	for n := last - 1; n >= 0; n-- {
		if i.History[n].Layer < 0 && runs(i.History[n].Text) {
			for k := range i.History[:n+1] {
				i.History[k].Base = true
			}
			return
		}
	}
}

// runs reports whether the step says what a container runs.
func runs(step string) bool {
	word, _, _ := strings.Cut(Instructed(step), " ")
	return word == "CMD" || word == "ENTRYPOINT"
}

// Instructed returns a step of a history as it stood in the build file, as far as
// it can be told: builders write "/bin/sh -c #(nop) CMD …" or "RUN /bin/sh -c … #
// buildkit".
func Instructed(step string) string {
	step = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(step), "# buildkit"))
	// The classic builder marks steps that change only metadata.
	if _, rest, ok := strings.Cut(step, "#(nop)"); ok && strings.HasPrefix(step, "/bin/sh -c") {
		return strings.TrimSpace(rest)
	}
	if rest, ok := strings.CutPrefix(step, "/bin/sh -c "); ok {
		return "RUN " + strings.TrimSpace(rest)
	}
	if strings.HasPrefix(strings.TrimPrefix(step, "RUN "),
		"|") { // "|2 NAME=value … /bin/sh -c command": arguments of the build
		if _, rest, ok := strings.Cut(step, "/bin/sh -c "); ok {
			return "RUN " + strings.TrimSpace(rest)
		}
	}
	if rest, ok := strings.CutPrefix(step, "RUN /bin/sh -c "); ok {
		return "RUN " + strings.TrimSpace(rest)
	}
	return step
}

// platformText writes a platform as people do.
func platformText(p *v1.Platform) string {
	if p == nil {
		return ""
	}
	text := p.OS + "/" + p.Architecture
	if p.Variant != "" {
		text += "/" + p.Variant
	}
	return text
}

// decode reads a document of the store.
func decode(s store, name string, into any) ([]byte, error) {
	b, err := readAll(s, name, maxDocument)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return nil, errs.E(errs.Invalid, "%s is not what it should be: %v", name, err)
	}
	return b, nil
}

// blobName returns where a layout keeps the content with the digest.
func blobName(h v1.Hash) (string, error) {
	if h.Algorithm != "sha256" && h.Algorithm != "sha512" || len(h.Hex) < 64 || len(h.Hex) > 128 ||
		strings.Trim(h.Hex, "0123456789abcdef") != "" {
		return "", errs.E(errs.Invalid, "%q is not a digest", h.String())
	}
	return fmt.Sprintf("blobs/%s/%s", h.Algorithm, h.Hex), nil
}
