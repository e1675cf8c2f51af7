package image

import (
	"cmp"
	"regexp"
	"strings"
)

// This file tells which image another one was built from.

// Labels and annotations of
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const (
	baseName   = "org.opencontainers.image.base.name"
	baseDigest = "org.opencontainers.image.base.digest"
)

// BaseName returns the image that this one was built from: by its annotations and
// labels, else by what the history of well-known images says; empty when none of
// them tells.
func (i *Image) BaseName() string {
	name := cmp.Or(i.Annotations[baseName], i.Config.Config.Labels[baseName])
	digest := cmp.Or(i.Annotations[baseDigest], i.Config.Config.Labels[baseDigest])
	switch {
	case name != "" && digest != "" && !strings.Contains(name, "@"):
		return name + "@" + digest
	case name != "" || digest != "":
		return cmp.Or(name, digest)
	}
	for _, h := range i.History {
		for _, known := range bases {
			if m := known.step.FindStringSubmatch(h.Text); m != nil {
				return known.name + ":" + m[1]
			}
		}
	}
	return i.ubuntu()
}

// bases are the first steps of images that others are built from.
var bases = []struct {
	name string
	step *regexp.Regexp
}{
	{"alpine", regexp.MustCompile(`ADD alpine-minirootfs-(\d+\.\d+\.\d+)-`)},
	{"debian", regexp.MustCompile(`^# debian\.sh --arch '[a-z0-9]+' out/ '([a-z]+)'`)},
	{"rockylinux", regexp.MustCompile(`ADD rocky-(\d+(?:\.\d+)?)[^ ]*-docker`)},
}

// ubuntu reads the labels that this distribution gives its images, which those
// built from them inherit.
func (i *Image) ubuntu() string {
	const name, version = "org.opencontainers.image.ref.name", "org.opencontainers.image.version"
	labels := i.Config.Config.Labels
	if labels[name] == "ubuntu" && labels[version] != "" {
		for _, h := range i.History {
			if strings.Contains(h.Text, "LABEL "+name+"=ubuntu") {
				return "ubuntu:" + labels[version]
			}
		}
	}
	return ""
}
