package lock

import (
	"errors"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sca/inventory/manifest"
)

// This file reads the lock files of .NET.

// readNuGet reads packages.lock.json
// (https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files#locking-dependencies).
func readNuGet(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	frameworks := n.Get("dependencies")
	if n.Kind != document.Map || frameworks != nil && frameworks.Kind != document.Map {
		return errors.New("an object was expected")
	}
	b.Rooted = true
	root := b.addNode(Node{Local: true, Manifest: b.onlyProject()})
	// The file has one graph for each target framework, so keys begin with it.
	for _, f := range frameworks.Members() {
		at := make([]int, len(f.Members()))
		for k, e := range f.Members() {
			at[k] = b.addNode(Node{Name: e.Key, Version: e.TextOf("resolved"), Line: e.Line,
				Local: strings.EqualFold(e.TextOf("type"), "Project")}, f.Key+" "+strings.ToLower(e.Key))
		}
		for k, e := range f.Members() {
			if strings.EqualFold(e.TextOf("type"), "Direct") {
				b.addEdge(root, false, f.Key+" "+strings.ToLower(e.Key))
			}
			for _, d := range e.Get("dependencies").Members() {
				base, _, _ := strings.Cut(f.Key, "/") // "net8.0/linux-x64" adds to "net8.0"
				b.addEdge(at[k], false, f.Key+" "+strings.ToLower(d.Key), base+" "+strings.ToLower(d.Key))
			}
		}
	}
	return nil
}

// onlyProject returns the only project file in the folder, else "".
func (b *builder) onlyProject() string {
	// packages.lock.json does not name its project. With several in the folder it is ambiguous.
	found := ""
	for _, kind := range []string{"*.csproj", "*.vbproj", "*.fsproj"} {
		for _, file := range b.Below(kind) {
			if file != b.siblingPath(file[strings.LastIndexByte(file, '/')+1:]) {
				continue
			}
			if found != "" {
				return ""
			}
			found = file
		}
	}
	return found
}

// readDepsJSON reads NAME.deps.json, which a build leaves beside a program
// (https://github.com/dotnet/sdk/blob/main/documentation/specs/runtime-configuration-file.md):
// the packages in "libraries", what each of them requires in "targets".
func readDepsJSON(b *builder) error {
	n, err := document.ParseJSON(b.Content, document.PackageLimits)
	if err != nil {
		return err
	}
	libraries, targets := n.Get("libraries"), n.Get("targets")
	if n.Kind != document.Map || libraries != nil && libraries.Kind != document.Map {
		return errors.New("an object was expected")
	}
	for _, e := range libraries.Members() {
		// "Newtonsoft.Json/13.0.3"
		name, version, ok := strings.Cut(e.Key, "/")
		if !ok || name == "" {
			b.addBroken(e.Line)
			continue
		}
		node := Node{Name: name, Version: version, Line: e.Line}
		switch e.TextOf("type") {
		case "package":
		case "runtimepack": // the runtime, which a program that needs no installed one brings
			node.Name = strings.TrimPrefix(name, "runtimepack.")
		default: // a project, or a part of the SDK
			node.Local = true
		}
		b.addNode(node, strings.ToLower(e.Key))
	}
	if libraries == nil && targets.Len() > 0 {
		b.addBroken(n.Line)
	}
	for _, target := range targets.Members() {
		b.linkTarget(target)
	}
	return nil
}

// linkTarget links the packages of a target framework to what they require.
func (b *builder) linkTarget(target document.Member) {
	for _, e := range target.Members() {
		// A target may name libraries that were trimmed; those have no entry.
		from, known := b.index[strings.ToLower(e.Key)]
		if !known {
			continue
		}
		for _, d := range e.Get("dependencies").Members() {
			if b.addEdge(from, false, strings.ToLower(d.Key+"/"+d.Text())) && b.Nodes[from].Local {
				b.Rooted = true
			}
		}
	}
}

// readPaket reads paket.lock (https://fsprojects.github.io/Paket/lock-file.html): groups,
// in them kinds of sources, in these "    Name (version)" and below "      Dependency
// (range)". Only those of NUGET are packages; files of a repository or of an address are
// not.
func readPaket(b *builder) error {
	type edge struct {
		from int
		name string
	}
	var edges []edge
	// The group without a name is "Main". A package can be in several groups in other versions.
	groups := []string{""}
	source, from, line := "", -1, 0
	for raw := range strings.Lines(string(b.Content)) {
		line++
		raw = strings.TrimRight(raw, " \r\n")
		text := strings.TrimLeft(raw, " ")
		switch indent := len(raw) - len(text); {
		case text == "":
		case indent == 0:
			if group, ok := strings.CutPrefix(text, "GROUP "); ok {
				groups, text = append(groups, strings.ToLower(strings.TrimSpace(group))), ""
			}
			source, from = text, -1
		case source != "NUGET" || indent == 2: // a setting, or the address of the source
		case indent == 4:
			name, version, ok := strings.Cut(text, " (")
			version, _, closed := strings.Cut(version, ")")
			if !ok || !closed {
				b.addBroken(line)
				continue
			}
			from = b.addNode(Node{Name: name, Version: version, Line: line}, groups[len(groups)-1]+" "+
				strings.ToLower(name))
		case from >= 0:
			name, _, _ := strings.Cut(text, " ")
			edges = append(edges, edge{from, groups[len(groups)-1] + " " + strings.ToLower(name)})
		}
	}
	for _, e := range edges {
		b.addEdge(e.from, false, e.name)
	}
	project := b.siblingPath("paket.dependencies")
	asks, err := manifest.Paket(b.Read(project))
	if err != nil {
		return err
	}
	root := b.addNode(Node{Local: true, Manifest: project})
	for _, r := range asks {
		// The requirement does not say its group: it is linked in each group that has the package.
		for _, group := range groups {
			if b.addEdge(root, false, group+" "+strings.ToLower(r.Name)) {
				b.Rooted = true
			}
		}
	}
	return nil
}
