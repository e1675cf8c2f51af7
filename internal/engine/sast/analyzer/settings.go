package analyzer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/magiconair/properties"

	"merlon/internal/engine/sast"
	"merlon/internal/engine/sast/callgraph"
	"merlon/internal/engine/sast/lang"
	"merlon/internal/scan"
)

// This file reads the files beside the code that tell what it means. One that cannot
// be read is said to be, where there is code that it would speak of: what is not known
// from it may hide a flaw.

// maxSettings bounds such a file, in bytes.
const maxSettings = 1 << 20

// readProperties returns what the properties files of Java programs say, by key. A key that two
// files give different values is left out: which one counts is not known here. Spring and others
// decide by them what code does.
func readProperties(p *scan.ProjectPass, sources []sast.Source) map[string]string {
	if !hasExtension(sources, ".java") {
		return nil
	}
	out := map[string]string{}
	differs := map[string]bool{}
	readEach(p, func(name string) bool { return path.Ext(name) == ".properties" }, func(_ string, text []byte) error {
		loader := properties.Loader{Encoding: properties.ISO_8859_1, DisableExpansion: true}
		read, err := loader.LoadBytes(text)
		if err != nil {
			return fmt.Errorf("not read as %w", err)
		}
		for key, value := range read.Map() {
			if had, ok := out[key]; ok && had != value {
				differs[key] = true
			}
			out[key] = value
		}
		return nil
	})
	for key := range differs {
		delete(out, key)
	}
	return out
}

// readGoModules returns the modules of Go in the tree. Import paths are resolved with them. A tree
// may have several. A file of the name that declares no module is reported, since the imports of
// its packages lead nowhere then.
func readGoModules(p *scan.ProjectPass, sources []sast.Source) []callgraph.Module {
	if !hasExtension(sources, ".go") {
		return nil
	}
	var out []callgraph.Module
	readEach(p, func(name string) bool { return path.Base(name) == "go.mod" }, func(name string, text []byte) error {
		named := sast.GoModules(map[string][]byte{name: text})
		if len(named) == 0 {
			return errors.New("not a module file: it does not name its module")
		}
		out = append(out, named...)
		return nil
	})
	return out
}

// A packageStart is a file in which a package begins, below the package's folder.
type packageStart struct{ folder, file string }

// readPackageStarts returns where the packages of JavaScript in the tree begin: what package.json
// gives to those who load the package and to the shell. One that is not read so names
// nothing, which changes the order of copies only.
func readPackageStarts(p *scan.ProjectPass, sources []sast.Source) []packageStart {
	if !slices.ContainsFunc(sources, func(s sast.Source) bool { return scriptFile.MatchString(s.Path) }) {
		return nil
	}
	var out []packageStart
	readEach(p, func(name string) bool {
		return path.Base(name) == "package.json"
	}, func(name string, text []byte) error {
		var said struct {
			Main any `json:"main"`
			Bin  any `json:"bin"`
		}
		if json.Unmarshal(text, &said) != nil {
			return nil
		}
		folder := path.Dir(name)
		if folder == "." {
			folder = ""
		}
		main, ok := said.Main.(string)
		if !ok {
			main = "index.js" // https://docs.npmjs.com/cli/configuring-npm/package-json#main
		}
		out = append(out, packageStart{folder, path.Clean(main)})
		switch bin := said.Bin.(type) {
		case string:
			out = append(out, packageStart{folder, path.Clean(bin)})
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(bin)) {
				if file, ok := bin[name].(string); ok {
					out = append(out, packageStart{folder, path.Clean(file)})
				}
			}
		}
		return nil
	})
	return out
}

// hasExtension reports whether there is a file with the extension.
func hasExtension(sources []sast.Source, ext string) bool {
	return slices.ContainsFunc(sources, func(s sast.Source) bool { return path.Ext(s.Path) == ext })
}

// readEach gives the files that are wanted to read. An error of it is that of the file. Files that
// cannot be read are reported, as what they say may decide what the code does.
func readEach(p *scan.ProjectPass, wanted func(name string) bool, read func(name string, text []byte) error) {
	for _, file := range p.Files {
		if !wanted(file.Path) || lang.ThirdParty(file.Path) != "" || p.Context.Err() != nil {
			continue
		}
		if file.Size > maxSettings {
			p.Degrade(scan.Reason{Code: "too-large", Path: file.Path,
				Message: fmt.Sprintf("the file has %d bytes; what the code means is read from files "+
					"up to %d", file.Size, maxSettings)})
			continue
		}
		text, err := fs.ReadFile(p.FS, file.Path)
		if err != nil {
			p.Degrade(scan.Reason{Code: "unreadable", Message: err.Error(), Path: file.Path})
			continue
		}
		if err := read(file.Path, text); err != nil {
			p.Degrade(scan.Reason{Code: "malformed", Message: err.Error(), Path: file.Path})
		}
	}
}
