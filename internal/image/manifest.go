package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"merlon/internal/errs"
)

// This file finds the image that is meant in the documents of an archive.

// Annotations under which archives keep the reference of an image.
var nameAnnotations = []string{"io.containerd.image.name", "org.opencontainers.image.ref.name"}

// candidate is an image of an index.
type candidate struct {
	v1.Descriptor
	name string
}

// fromIndex reads the image of an OCI layout.
func (i *Image) fromIndex(o Options) ([]layerBlob, error) {
	var index v1.IndexManifest
	if _, err := decode(i.store, "index.json", &index); err != nil {
		return nil, err
	}
	all, err := candidates(i.store, index.Manifests, "", 0)
	if err != nil {
		return nil, err
	}
	c, err := choose(all, o)
	if err != nil {
		return nil, err
	}
	i.Name = c.name
	return i.fromManifest(c.Descriptor)
}

// candidates lists the images of an index and of those inside of it. What a build
// says of an image (attestations) stands there too and is none.
func candidates(s store, list []v1.Descriptor, name string, depth int) ([]candidate, error) {
	var out []candidate
	for _, d := range list {
		name := name
		for _, key := range nameAnnotations {
			if text := d.Annotations[key]; text != "" && name == "" {
				name = text
			}
		}
		switch {
		// docker buildx writes an index per name, with one manifest per platform.
		case d.MediaType.IsIndex():
			if depth == maxNesting {
				return nil, errs.E(errs.TooLarge, "more than %d indexes inside of each other", maxNesting)
			}
			blob, err := blobName(d.Digest)
			if err != nil {
				return nil, err
			}
			if !s.has(blob) {
				continue // of a platform that was not saved
			}
			var inner v1.IndexManifest
			if _, err := decode(s, blob, &inner); err != nil {
				return nil, err
			}
			more, err := candidates(s, inner.Manifests, name, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		// Attestations have the media type of a manifest, too; the annotation tells them apart.
		case d.MediaType.IsImage() && d.Annotations["vnd.docker.reference.type"] == "":
			// The index of a multi-platform image lists platforms that the archive does not
			// contain.
			if blob, err := blobName(d.Digest); err == nil && s.has(blob) {
				out = append(out, candidate{d, name})
			}
		}
		// Nested indexes can multiply the number of candidates.
		if len(out) > maxLayers {
			return nil, errs.E(errs.TooLarge, "the archive contains more than %d images", maxLayers)
		}
	}
	return out, nil
}

// choose returns the image that is meant.
func choose(all []candidate, o Options) (*candidate, error) {
	if o.Name != "" {
		named := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !sameName(c.name, o.Name) })
		if len(named) == 0 {
			return nil, errs.E(errs.Invalid, "there is no image %q: the archive contains %s", o.Name, listNames(all))
		}
		all = named
	}
	platform := o.Platform
	if platform == "" && len(all) > 1 {
		// The platform that most images are built for, and that runs on most servers.
		platform = "linux/amd64"
	}
	if platform != "" {
		want, err := v1.ParsePlatform(platform)
		if err != nil {
			return nil, errs.E(errs.Invalid, "%q is not a platform: write os/architecture, such as linux/arm64",
				platform)
		}
		var seen []string
		fit := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool {
			if c.Platform == nil {
				return false // who does not say may fit
			}
			seen = append(seen, platformText(c.Platform))
			return !c.Platform.Satisfies(*want)
		})
		if len(fit) == 0 {
			slices.Sort(seen)
			return nil, errs.E(errs.Invalid, "there is no image for %s: the archive contains %s", platform,
				strings.Join(slices.Compact(seen), ", "))
		}
		all = fit
	}
	switch {
	case len(all) == 0:
		return nil, errs.E(errs.Invalid, "the archive contains no container image")
	case len(all) > 1 && !same(all):
		return nil, errs.E(errs.Invalid, "the archive contains several images (%s): select one with #NAME after "+
			"its path", listNames(all))
	}
	return &all[0], nil
}

// same reports whether all candidates are one image under several names.
func same(all []candidate) bool {
	return !slices.ContainsFunc(all, func(c candidate) bool { return c.Digest != all[0].Digest })
}

// sameName reports whether a reference is the one that a person wrote, who leaves
// out the registry and the library of the public hub.
func sameName(stored, asked string) bool {
	short := strings.TrimPrefix(strings.TrimPrefix(stored, "docker.io/"), "library/")
	return stored == asked || short == asked || strings.TrimSuffix(short, ":latest") == asked
}

// listNames lists the names of candidates for an error message, at most 20.
func listNames(all []candidate) string {
	var out []string
	for _, c := range all {
		name := c.name
		if name == "" {
			name = "one without a name"
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) > 20 {
		out = append(out[:20], fmt.Sprintf("and %d more", len(out)-20))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// fromManifest reads the manifest and the configuration.
func (i *Image) fromManifest(d v1.Descriptor) ([]layerBlob, error) {
	blob, err := blobName(d.Digest)
	if err != nil {
		return nil, err
	}
	var m v1.Manifest
	raw, err := decode(i.store, blob, &m)
	if err != nil {
		return nil, err
	}
	// The digest identifies the image in findings and SBOMs, so it must be that of the content.
	if got := digest(raw); d.Digest.Algorithm == "sha256" && got != d.Digest.String() {
		return nil, errs.E(errs.Invalid, "the manifest is not the one that the index names: its digest is %s", got)
	}
	switch m.Config.MediaType {
	case types.OCIConfigJSON, types.DockerConfigJSON, "":
	default:
		return nil, errs.E(errs.Invalid, "this is no container image but an artifact of the "+
			"type %q", m.Config.MediaType)
	}
	i.Digest, i.ID, i.Annotations = d.Digest.String(), m.Config.Digest.String(), m.Annotations
	config, err := blobName(m.Config.Digest)
	if err != nil {
		return nil, err
	}
	if err := i.readConfig(config); err != nil {
		return nil, err
	}
	var layers []layerBlob
	for _, l := range m.Layers {
		name, err := blobName(l.Digest)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layerBlob{blob: name, size: l.Size})
	}
	return layers, nil
}

// saved is an entry of manifest.json, which "docker save" writes.
type saved struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// fromSaved reads the image of a tarball of the older form.
func (i *Image) fromSaved(o Options) ([]layerBlob, error) {
	var list []saved
	if _, err := decode(i.store, "manifest.json", &list); err != nil {
		return nil, err
	}
	var names []candidate
	fit := -1
	for n, m := range list {
		// An image that was saved by its ID has no tags.
		if len(m.RepoTags) == 0 {
			m.RepoTags = []string{""}
		}
		for _, tag := range m.RepoTags {
			names = append(names, candidate{name: tag})
			if fit < 0 && o.Name != "" && sameName(tag, o.Name) {
				fit, i.Name = n, tag
			}
		}
	}
	switch {
	case fit >= 0:
	case o.Name != "":
		return nil, errs.E(errs.Invalid, "there is no image %q: the archive contains %s", o.Name, listNames(names))
	case len(list) != 1:
		return nil, errs.E(errs.Invalid, "the archive contains %d images (%s): select one with #NAME after "+
			"its path", len(list), listNames(names))
	default:
		fit, i.Name = 0, names[0].name
	}
	m := list[fit]
	if err := i.readConfig(m.Config); err != nil {
		return nil, err
	}
	if want := o.Platform; want != "" && i.Config.Platform() != nil {
		if p, err := v1.ParsePlatform(want); err != nil || !i.Config.Platform().Satisfies(*p) {
			return nil, errs.E(errs.Invalid, "there is no image for %s: the archive contains %s", want,
				platformText(i.Config.Platform()))
		}
	}
	var layers []layerBlob
	for _, name := range m.Layers {
		layers = append(layers, layerBlob{blob: name, size: i.store.size(name)})
	}
	return layers, nil
}

// readConfig reads the configuration of the image.
func (i *Image) readConfig(name string) error {
	i.Config = &v1.ConfigFile{}
	raw, err := decode(i.store, name, i.Config)
	if err != nil {
		return err
	}
	i.ID = digest(raw)
	return nil
}

// digest returns the SHA-256 of a document as OCI writes it.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
