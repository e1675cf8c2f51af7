package manifest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// An element is an XML element that asks for a package.
type element struct {
	name       string
	attributes map[string]string
	text       map[string]string // of the elements inside of it
	line       int
}

// elements returns the elements with one of the names, each with the texts of the
// elements in it.
func elements(content []byte, names ...string) ([]element, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // names are ASCII
	var out []element
	var open *element
	inside, depth := "", 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > 200 || len(out) > maxRequirements {
				return nil, errors.New("the document is too large or too deep")
			}
			if open != nil {
				inside = t.Name.Local
				continue
			}
			for _, n := range names {
				if t.Name.Local == n {
					line, _ := d.InputPos()
					open = &element{name: n, attributes: map[string]string{}, text: map[string]string{}, line: line}
					for _, a := range t.Attr {
						open.attributes[a.Name.Local] = a.Value
					}
				}
			}
		case xml.CharData:
			if open != nil && inside != "" {
				open.text[inside] += strings.TrimSpace(string(t))
			}
		case xml.EndElement:
			depth--
			if inside = ""; open != nil && t.Name.Local == open.name {
				out = append(out, *open)
				open = nil
			}
		}
	}
}

// Project reads the project file of a .NET language.
func Project(content []byte) ([]Requirement, error) {
	list, err := elements(content, "PackageReference", "GlobalPackageReference", "PackageVersion")
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, e := range list {
		name := e.attributes["Include"]
		if name == "" {
			name = e.attributes["Update"]
		}
		wanted := e.attributes["Version"] + e.text["Version"]
		if over := e.attributes["VersionOverride"] + e.text["VersionOverride"]; over != "" {
			wanted = over
		}
		if name == "" || strings.Contains(name, "$(") {
			continue
		}
		private := e.attributes["PrivateAssets"] + e.text["PrivateAssets"]
		out = append(out, Requirement{Name: name, Version: NuGetVersion(wanted), Wanted: wanted, Line: e.line, Dev: strings.EqualFold(private, "all")})
	}
	return out, nil
}

// NuGetVersion returns the version that a requirement of NuGet takes: a bare
// version is the lowest that it allows, and the lowest is what is taken
// (https://learn.microsoft.com/nuget/concepts/dependency-resolution).
func NuGetVersion(wanted string) string {
	wanted = strings.TrimSpace(wanted)
	if inner, ok := strings.CutPrefix(wanted, "["); ok {
		inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ",")
		wanted = strings.TrimSpace(inner)
	}
	if strings.ContainsAny(wanted, "*$(),[]") {
		return ""
	}
	return FixedVersion(wanted)
}

// Nuspec reads the dependencies of a .nuspec, which are those of a package to be.
func Nuspec(content []byte) ([]Requirement, error) {
	list, err := elements(content, "dependency")
	if err != nil {
		return nil, err
	}
	var out []Requirement
	for _, e := range list {
		if name := e.attributes["id"]; name != "" && !strings.Contains(name, "$") {
			out = append(out, Requirement{Name: name, Version: NuGetVersion(e.attributes["version"]), Wanted: e.attributes["version"], Line: e.line})
		}
	}
	return out, nil
}
