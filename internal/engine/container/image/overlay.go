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

// A version is what a file holds in one layer.
type version struct {
	layer  int
	entry  int // its number in the layer; of two entries with one name the later is the file
	gone   int // the layer that removes or replaces it, or -1
	items  []item
	hits   []hit
	text   string // of a file that is read at the end
	setuid *setuid
}

// overlay holds the versions of files, lowest layer first.
type overlay struct {
	held    map[string][]*version
	folders map[string]int // folders that lead to held files, with how many

	// Of the layer that passes by:
	hidden  map[string]bool // paths at which nothing of lower layers is left
	emptied map[string]bool // folders of which nothing of lower layers is left inside
}

// begin starts a layer.
func (o *overlay) begin() { o.hidden, o.emptied = map[string]bool{}, map[string]bool{} }

// note takes what an entry does to lower layers.
func (o *overlay) note(e *oci.Entry) {
	_, file := o.held[e.Path]
	_, folder := o.folders[e.Path]
	switch {
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

// end hides what the layer hides, and adds what it holds.
func (o *overlay) end(layer int, fresh map[string]*version) {
	if len(o.hidden) > 0 || len(o.emptied) > 0 {
		for name, versions := range o.held {
			last := versions[len(versions)-1]
			if last.gone < 0 && o.hides(name) {
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

// hides reports whether the layer hides the file of the lower ones.
func (o *overlay) hides(name string) bool {
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

// seen returns the version of a file that the image shows, or nil.
func (o *overlay) seen(name string) *version {
	versions := o.held[name]
	if len(versions) == 0 {
		return nil
	}
	if last := versions[len(versions)-1]; last.gone < 0 {
		return last
	}
	return nil
}

// names returns the paths at which something is held, sorted.
func (o *overlay) names() []string {
	out := make([]string, 0, len(o.held))
	for name := range o.held {
		out = append(out, name)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// brought returns the layer that brought the package of the visible version at the
// path: the lowest from which on the file has held it, however often the file was
// written again.
func (o *overlay) brought(name string, it item) int {
	versions := o.held[name]
	n := len(versions) - 1
	layer := versions[n].layer
	for n--; n >= 0 && versions[n].gone == versions[n+1].layer && versions[n].holds(it); n-- {
		layer = versions[n].layer
	}
	return layer
}

// holds reports whether the file names the package.
func (v *version) holds(it item) bool {
	if len(v.items) < 16 {
		return slices.ContainsFunc(v.items, func(o item) bool { return o.key() == it.key() })
	}
	_, found := slices.BinarySearchFunc(v.items, it.key(), func(o item, key string) int {
		return cmp.Compare(o.key(), key)
	})
	return found
}
