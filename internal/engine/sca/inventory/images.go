package inventory

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/google/osv-scalibr/purl"

	"merlon/internal/engine/sca/inventory/imageref"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file lists the container images that files name: what a deployment runs is as much a
// dependency as what a lock file names.

// ImageEcosystem is the ecosystem of container images. No records are about it; what is known
// of the software in well-known images is looked up under other ecosystems.
const ImageEcosystem = "Docker"

// maxImageFile bounds a file that is read for images, in bytes.
const maxImageFile = 4 << 20

// mayNameImages reports whether the file is of a kind that names images.
func mayNameImages(file string) bool { return imageref.KindOf(file) != "" }

// addImages adds the images that a file names. What cannot be read is told by the analyses of
// infrastructure, whose subject these files are.
func (inv *inventory) addImages(f scan.File) {
	kind := imageref.KindOf(f.Path)
	if kind == "" || f.Size > maxImageFile || isWorkflow(f.Path) {
		return
	}
	content := inv.readOther(f.Path)
	// Most files of YAML are no manifests: this spares the parser.
	if kind == imageref.Kubernetes && !bytes.Contains(content, []byte("ontainers")) {
		return
	}
	for _, r := range imageref.Read(kind, content) {
		inv.packages = append(inv.packages, finding.Package{
			Ecosystem: ImageEcosystem, Name: r.Name, Version: cmp.Or(r.Tag, r.Digest), PURL: imagePURL(r),
			Path: f.Path, Line: r.Line, Scope: finding.Direct,
		})
	}
}

// imagePURL makes the package URL of an image: of another registry than the default one it has
// the address as a qualifier.
func imagePURL(r imageref.Reference) string {
	u := purl.PackageURL{Type: purl.TypeDocker, Name: r.Name, Version: cmp.Or(r.Digest, r.Tag)}
	qualifiers := map[string]string{}
	if registry, rest, ok := strings.Cut(r.Name, "/"); ok && (strings.ContainsAny(registry, ".:") ||
		registry == "localhost") {
		u.Name = rest
		qualifiers["repository_url"] = registry
	}
	if r.Digest != "" && r.Tag != "" {
		qualifiers["tag"] = r.Tag
	}
	u.Qualifiers = purl.QualifiersFromMap(qualifiers)
	if i := strings.LastIndexByte(u.Name, '/'); i > 0 {
		u.Namespace, u.Name = u.Name[:i], u.Name[i+1:]
	}
	return u.String()
}
