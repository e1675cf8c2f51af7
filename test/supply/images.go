package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merlon/test/process"
	"merlon/test/table"
)

// This file measures the scan of container images: the packages that it finds
// beside another scanner's, what it costs, and the memory for a large image.

// Sizes of the images' layers before compression.
// systemBytes bounds each of the layers of the image that both scanners get; largeBytes leaves
// room for all files of the system.
const (
	systemBytes = 330 << 20
	largeBytes  = 5 << 30
)

// measureImages assembles two images and compares what is found in the first.
func measureImages(ctx context.Context, b *bench) ([]table.Row, error) {
	dir := filepath.Join(b.out, "images")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	app := filepath.Join(dir, "app.tar")
	// An image of an earlier run with the same folder of results is taken again.
	if _, err := os.Stat(app); err != nil {
		if err := b.applicationImage(app); err != nil {
			return nil, fmt.Errorf("assemble an image: %w", err)
		}
	}
	// From here on b.merlon is the copy.
	if err := b.installProgram(dir); err != nil {
		return nil, err
	}
	rows, err := b.besideSyft(ctx, app)
	if err != nil {
		return rows, err
	}
	large := filepath.Join(dir, "large.tar")
	defer func() { _ = os.Remove(large) }() // it is made anew each time
	if err := largeImage(large); err != nil {
		return rows, fmt.Errorf("assemble a large image: %w", err)
	}
	// A layer must be read as a stream: memory that grows with the image fails the floor.
	_, cost, err := b.scanImage(ctx, large)
	if err != nil {
		return rows, err
	}
	info, err := os.Stat(large)
	if err != nil {
		return rows, err
	}
	return append(rows, table.Row{Measure: "memory of an image of 2 GB", Floor: "≤ 1 GB",
		Measured: fmt.Sprintf("%d MB", cost.Peak>>20),
		Met:      table.Verdict(cost.Peak <= 1<<30), Note: fmt.Sprintf("%.1f GB as stored, %.1f s, %.1f CPU-seconds",
			float64(info.Size())/1e9, cost.Wall.Seconds(), cost.CPU.Seconds())}), nil
}

// installProgram measures a copy of the program, as it is installed: the pages of a file that
// the linker has just written are mapped in larger pieces than those of any other, and
// count as memory that nobody has asked for.
func (b *bench) installProgram(dir string) error {
	in, err := os.Open(b.merlon)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read from
	b.merlon = filepath.Join(dir, "merlon")
	out, err := os.OpenFile(b.merlon, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// scanImage scans an image for packages and everything else that it holds.
// All analyses of images run, so the cost includes secrets and the configuration.
func (b *bench) scanImage(ctx context.Context, at string) (*report, process.Cost, error) {
	args := []string{b.merlon, "scan", "--image", at, "--format", "json", "--fail-on", "none", "--profile", "all"}
	out, err := process.Command{Args: args, Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return nil, process.Cost{}, err
	}
	if !slices.Contains(reported, out.Code) {
		return nil, process.Cost{}, fmt.Errorf("merlon scan --image %s: exit code %d: %s", at, out.Code,
			process.Tail(out.Stderr))
	}
	var r report
	if err := json.Unmarshal(out.Stdout, &r); err != nil {
		return nil, process.Cost{}, fmt.Errorf("merlon scan --image %s: decode report: %w", at, err)
	}
	return &r, out.Cost, nil
}

// applicationImage writes an image of three layers: the system, Node packages, and
// programs.
// The files come from the machine of the run, so two machines give different numbers; both
// scanners get the same image.
func (b *bench) applicationImage(at string) error {
	lock := filepath.Join(b.corpora, "repos", "nodejs-goof", "package-lock.json")
	packages, err := lockedPackages(lock)
	if err != nil {
		return err
	}
	a, err := newAssembly(at)
	if err != nil {
		return err
	}
	if err := a.writeLayer("ADD rootfs.tar / # buildkit", systemBytes, func(l *layerWriter) error {
		if err := l.addFile("etc/os-release", "/etc/os-release"); err != nil {
			return err
		}
		// The dpkg database, Python packages, programs and libraries: packages by different
		// evidence.
		for _, root := range []string{"/var/lib/dpkg/status", "/usr/lib/python3", "/usr/bin", "/usr/share/doc",
			"/usr/lib/x86_64-linux-gnu"} {
			if err := l.addTree(root); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := a.writeLayer("RUN npm ci", systemBytes, func(l *layerWriter) error {
		// Only the package.json of each package is written, which is what scanners read; nothing
		// is installed.
		for _, p := range packages {
			if err := l.addText(path.Join("app", p.at, "package.json"), p.lockDocument()); err != nil {
				return err
			}
		}
		return l.addTree("/usr/lib/node_modules")
	}); err != nil {
		return err
	}
	if err := a.writeLayer("COPY bin /app/bin", systemBytes, func(l *layerWriter) error {
		for _, name := range []string{"gitleaks", "actionlint", "osv-scanner"} {
			if err := l.addFile("app/bin/"+name, filepath.Join(b.peers, name)); err != nil {
				return err
			}
		}
		// A whiteout: the file of the lower layer is deleted (OCI image layer specification).
		return l.addText("usr/bin/.wh.perl", "")
	}); err != nil {
		return err
	}
	return a.writeImage("example.test/app:1.0")
}

// A lockedPackage is an entry of package-lock.json.
// at is the folder, as in node_modules/a/node_modules/b, name the package, Version the locked
// version.
type lockedPackage struct {
	at, name, Version string
}

// lockDocument returns a lock file that contains the package.
// It is the package.json that npm would unpack into the folder.
func (p lockedPackage) lockDocument() string {
	return fmt.Sprintf("{\n  \"name\": %q,\n  \"version\": %q,\n  \"license\": \"MIT\",\n  \"main\": \"index.js\"\n}\n",
		p.name, p.Version)
}

// lockedPackages lists what a lock file would install.
func lockedPackages(file string) ([]lockedPackage, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// Version 2 and 3 have packages with their folders as keys, version 1 nested dependencies.
	var lock struct {
		Packages     map[string]lockedPackage
		Dependencies map[string]json.RawMessage
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return nil, err
	}
	var out []lockedPackage
	for at, p := range lock.Packages {
		// The last node_modules/ begins the name, which may have a scope:
		// node_modules/@babel/core. The key "" is the project itself.
		if i := strings.LastIndex(at, "node_modules/"); i >= 0 && p.Version != "" {
			out = append(out, lockedPackage{at, at[i+len("node_modules/"):], p.Version})
		}
	}
	if len(out) == 0 {
		out, err = nestedPackages("", lock.Dependencies)
	}
	slices.SortFunc(out, func(a, b lockedPackage) int { return cmp.Compare(a.at, b.at) })
	return out, err
}

// nestedPackages reads the older form of a lock file.
func nestedPackages(below string, dependencies map[string]json.RawMessage) ([]lockedPackage, error) {
	var out []lockedPackage
	for name, raw := range dependencies {
		var d struct {
			Version      string
			Dependencies map[string]json.RawMessage
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		at := path.Join(below, "node_modules", name)
		out = append(out, lockedPackage{at, name, d.Version})
		more, err := nestedPackages(at, d.Dependencies)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// largeImage writes an image of the whole of /usr and more, some 2 GB as stored.
func largeImage(at string) error {
	a, err := newAssembly(at)
	if err != nil {
		return err
	}
	for _, part := range []string{"/usr/lib", "/usr/local", "/usr/share", "/usr/bin", "/opt"} {
		if err := a.writeLayer("RUN install "+part, largeBytes, func(l *layerWriter) error {
			return l.addTree(part)
		}); err != nil {
			return err
		}
	}
	return a.writeImage("example.test/large:1.0")
}

// A seen is a package of an image, as two scanners can agree on it.
// The kind is in lower case, the version has no leading v; Version is "" when a scanner does not
// know it.
type seen struct{ Kind, Name, Version string }

// besideSyft compares the packages and the cost of both programs on one image.
func (b *bench) besideSyft(ctx context.Context, at string) ([]table.Row, error) {
	ours, cost, err := b.scanImage(ctx, at)
	if err != nil {
		return nil, err
	}
	theirs, err := b.runPeer(ctx, "syft", "scan", "docker-archive:"+at, "-o", "json", "-q")
	if err != nil {
		return nil, err
	}
	expected, err := syftPackages(theirs.Stdout)
	if err != nil {
		return nil, err
	}
	found := map[seen]bool{}
	for _, p := range ours.Packages {
		// An ecosystem of a distribution has its release behind a colon, such as "Debian:12".
		kind, _, _ := strings.Cut(p.Ecosystem, ":")
		found[seen{strings.ToLower(kind), canonicalName(kind, p.Name), strings.TrimPrefix(p.Version, "v")}] = true
	}
	var cases []map[string]any
	missing, more := 0, 0
	for p := range expected {
		if !found[p] {
			missing++
			cases = append(cases, map[string]any{"missing": p})
		}
	}
	// Packages that only we report are counted and do not fail the floor: each is in the file of
	// cases.
	for p := range found {
		if !expected[p] {
			more++
			cases = append(cases, map[string]any{"more": p})
		}
	}
	if err := writeCases(b, "images", cases); err != nil {
		return nil, err
	}
	info, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	size := fmt.Sprintf("an image of %d MB", info.Size()/1e6)
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
	return []table.Row{
		{Measure: "packages in " + size, Floor: "those of Syft",
			Measured: fmt.Sprintf("%d of %d, %d more", len(expected)-missing, len(expected), more),
			Met:      table.Verdict(missing == 0)},
		{Measure: "CPU-seconds on " + size, Floor: "< Syft's " + seconds(theirs.CPU), Measured: seconds(cost.CPU),
			Met: table.Verdict(cost.CPU < theirs.CPU), Note: "secrets and configuration of the image included; wall " +
				seconds(cost.Wall) + " and " + seconds(theirs.Wall) + " s"},
		{Measure: "memory on " + size, Floor: "≤ 100 MB", Measured: fmt.Sprintf("%d MB", cost.Peak>>20),
			Met: table.Verdict(cost.Peak <= 100<<20), Note: fmt.Sprintf("Syft %d MB", theirs.Peak>>20)},
	}, nil
}

// canonicalName returns the one spelling of a name where there are several: those of Python
// are equal without case and with any of "-", "_" and "." (PEP 503).
// The names of other ecosystems are case-sensitive or are written in one way only.
func canonicalName(kind, name string) string {
	if strings.EqualFold(kind, "pypi") {
		return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(name))
	}
	return name
}

// syftKinds gives the ecosystems of the kinds of packages.
// A kind that is not in the table is not compared. To add one: Syft's type, and our ecosystem in
// lower case.
var syftKinds = map[string]string{"deb": "debian", "npm": "npm", "python": "pypi", "go-module": "go",
	"java-archive": "maven", "gem": "rubygems", "php-composer": "packagist", "rust-crate": "crates.io",
	"dotnet": "nuget"}

// syftPackages reads the other scanner's report. What is no package of a package
// manager (programs that it recognises by their bytes) is left out.
func syftPackages(b []byte) (map[seen]bool, error) {
	var doc struct {
		Artifacts []struct{ Type, Name, Version string }
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("decode syft's report: %w", err)
	}
	out := map[seen]bool{}
	for _, a := range doc.Artifacts {
		kind, ok := syftKinds[a.Type]
		if !ok {
			continue
		}
		// Syft writes the version of the Go standard library as "go1.22.1".
		version := strings.TrimPrefix(strings.TrimPrefix(a.Version, "v"), "go")
		// A module that was built from its own folder has no version.
		if version == "(devel)" || version == "UNKNOWN" {
			version = ""
		}
		out[seen{kind, canonicalName(kind, a.Name), version}] = true
	}
	return out, nil
}
