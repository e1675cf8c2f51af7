package image

import (
	"cmp"
	"path"
	"slices"
	"strings"

	oci "merlon/internal/image"
)

// This file knows what of the lower layers the higher ones hide. It keeps the paths
// at which something was found, and no others.

// fileVersion is what a file holds in one layer.
type fileVersion struct {
	// the index of the layer with this version
	layer int
	entry int // its number in the layer; of two entries with one name the later is the file
	gone  int // the layer that removes or replaces it, or -1
	items []imagePackage
	// secrets; those of hidden versions are reported too, since the layer can be extracted
	hits   []secretHit
	text   string // of a file that is read at the end
	setuid *setuidFile
}

// layerOverlay has the versions of files, lowest layer first.
type layerOverlay struct {
	held    map[string][]*fileVersion
	folders map[string]int // folders that lead to held files, with how many

	// Of the layer that passes by:
	hidden  map[string]bool // paths at which nothing of lower layers is left
	emptied map[string]bool // folders of which nothing of lower layers is left inside
}

// beginLayer starts a layer.
func (o *layerOverlay) beginLayer() { o.hidden, o.emptied = map[string]bool{}, map[string]bool{} }

// noteEntry takes what an entry does to lower layers.
func (o *layerOverlay) noteEntry(e *oci.Entry) {
	_, file := o.held[e.Path]
	_, folder := o.folders[e.Path]
	switch {
	// ".wh..wh..opq" in a folder hides all of the lower layers in it (OCI image layers, "Opaque
	// whiteout").
	case e.Kind == oci.Emptied:
		if folder || e.Path == "." {
			o.emptied[e.Path] = true
		}
	case e.Kind == oci.Folder: // joins the folder of a lower layer, and replaces a file
		if file {
			o.hidden[e.Path] = true
		}
	case file || folder:
		o.hidden[e.Path] = true
	}
}

// endLayer hides what the layer hides, and adds what it has.
func (o *layerOverlay) endLayer(layer int, fresh map[string]*fileVersion) {
	if len(o.hidden) > 0 || len(o.emptied) > 0 {
		for name, versions := range o.held {
			last := versions[len(versions)-1]
			if last.gone < 0 && o.isHidden(name) {
				last.gone = layer
			}
		}
	}
	for name, v := range fresh {
		versions, known := o.held[name]
		if known && versions[len(versions)-1].gone < 0 {
			versions[len(versions)-1].gone = layer
		}
		o.held[name] = append(versions, v)
		if known {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			o.folders[dir]++
			if o.folders[dir] > 1 {
				break // those above it are known
			}
		}
	}
}

// isHidden reports whether the layer hides the file of the lower ones.
func (o *layerOverlay) isHidden(name string) bool {
	if o.hidden[name] || o.emptied["."] {
		return true
	}
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if dir := name[:i]; o.hidden[dir] || o.emptied[dir] {
			return true
		}
	}
	return false
}

// visibleVersion returns the version of a file that the image shows, or nil.
func (o *layerOverlay) visibleVersion(name string) *fileVersion {
	versions := o.held[name]
	if len(versions) == 0 {
		return nil
	}
	if last := versions[len(versions)-1]; last.gone < 0 {
		return last
	}
	return nil
}

// sortedPaths returns the paths at which something is kept, sorted.
func (o *layerOverlay) sortedPaths() []string {
	out := make([]string, 0, len(o.held))
	for name := range o.held {
		out = append(out, name)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// originLayer returns the layer that brought the package of the visible version at the
// path: the lowest from which on the file has had it, however often the file was written
// again.
func (o *layerOverlay) originLayer(name string, it imagePackage) int {
	versions := o.held[name]
	n := len(versions) - 1
	layer := versions[n].layer
	for n--; n >= 0 && versions[n].gone == versions[n+1].layer && versions[n].hasPackage(it); n-- {
		layer = versions[n].layer
	}
	return layer
}

// hasPackage reports whether the file names the package.
func (v *fileVersion) hasPackage(it imagePackage) bool {
	if len(v.items) < 16 {
		return slices.ContainsFunc(v.items, func(o imagePackage) bool { return o.packageKey() == it.packageKey() })
	}
	_, found := slices.BinarySearchFunc(v.items, it.packageKey(), func(o imagePackage, key string) int {
		return cmp.Compare(o.packageKey(), key)
	})
	return found
}
