package code

import (
	"io/fs"
	"path"

	"github.com/magiconair/properties"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/flow"
	"merlon/internal/scan"
)

// This file reads the files beside the code that tell what it means.

// maxSettings bounds such a file, in bytes.
const maxSettings = 1 << 20

// settings returns what the properties files of Java programs say, by key. A key that
// two files give different values is left out: which one counts is not known here.
func settings(p *scan.ProjectPass) map[string]string {
	out := map[string]string{}
	differs := map[string]bool{}
	each(p, ".properties", func(_ string, text []byte) {
		loader := properties.Loader{Encoding: properties.ISO_8859_1, DisableExpansion: true}
		read, err := loader.LoadBytes(text)
		if err != nil {
			return // not a file of this kind: nothing is known from it
		}
		for key, value := range read.Map() {
			if had, ok := out[key]; ok && had != value {
				differs[key] = true
			}
			out[key] = value
		}
	})
	for key := range differs {
		delete(out, key)
	}
	return out
}

// modules returns the modules of Go in the tree.
func modules(p *scan.ProjectPass) []flow.Module {
	files := map[string][]byte{}
	each(p, ".mod", func(name string, text []byte) {
		if path.Base(name) == "go.mod" {
			files[name] = text
		}
	})
	return sast.GoModules(files)
}

// each gives the small files with the extension to f.
func each(p *scan.ProjectPass, ext string, f func(name string, text []byte)) {
	for _, file := range p.Files {
		if path.Ext(file.Path) != ext || file.Size > maxSettings || left(file.Path) != "" {
			continue
		}
		if text, err := fs.ReadFile(p.FS, file.Path); err == nil {
			f(file.Path, text)
		}
	}
}
