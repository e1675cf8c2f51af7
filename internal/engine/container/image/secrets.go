package image

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/secrets/credentials"
	"merlon/internal/finding"
	oci "merlon/internal/image"
	"merlon/internal/scan"
)

// This file looks for secrets in the files of layers, with the analyzers that look
// for them in source code.

// detectors are the analyzers of files that find secrets.
var detectors = []*scan.Analyzer{credentials.Analyzer}

// secretHit is a secret in a file.
type secretHit struct {
	rule *finding.Rule
	finding.Finding
}

// secretFinder looks into files.
type secretFinder struct {
	detectors []*scan.Analyzer
}

// publishedFolders are folders of files that are public: packages of the distribution and
// of languages. What is in them is not a secret of the image's owner.
var publishedFolders = []string{
	"usr/share/", "usr/lib/", "usr/lib32/", "usr/lib64/", "usr/libexec/", "usr/include/", "usr/bin/", "usr/sbin/",
	"usr/games/",
	"lib/", "lib32/", "lib64/", "bin/", "sbin/", "boot/", "usr/local/go/", "usr/local/include/", "usr/local/share/man/",
	"var/lib/dpkg/", "var/lib/apt/", "var/lib/rpm/", "var/lib/dnf/", "var/cache/", "var/lib/yum/", "lib/apk/",
	"etc/ssl/certs/", "etc/pki/ca-trust/", "etc/ca-certificates/",
	"proc/", "sys/", "dev/",
}

// installedFolders are parts of paths below which packages of languages are installed.
var installedFolders = []string{
	"/node_modules/", "/site-packages/", "/dist-packages/", "/pkg/mod/", "/.cargo/registry/", "/.rustup/",
	"/.m2/repository/", "/.gradle/caches/", "/gems/", "/specifications/", "/vendor/composer/", "/.nuget/packages/",
	"/lib/python2", "/lib/python3", "/.npm/_cacache/", "/.yarn/cache/", "/.pnpm/", "/pnpm/store/", "/conda-meta/",
}

// copiesFiles reports whether the layer was made by copying the builder's own files: such
// a file is analyzed wherever it is.
func copiesFiles(l *oci.Layer) bool {
	word, rest, _ := strings.Cut(oci.Instructed(l.Instruction), " ")
	if l.Base || l.Index == 0 && strings.HasSuffix(rest, " /") {
		return false
	}
	return word == "COPY" || word == "ADD"
}

// wantsFile reports whether the file may hold a secret of the image's owner.
func (s *secretFinder) wantsFile(name string, copied bool) bool {
	if !copied && isBelowAny(name, publishedFolders, nil) || isBelowAny(name, nil, installedFolders) {
		return false
	}
	return slices.ContainsFunc(s.detectors, func(a *scan.Analyzer) bool { return a.Match(name) })
}

// findInFile returns the secrets of a file.
func (s *secretFinder) findInFile(ctx context.Context, e oci.Entry, c contentReader) ([]secretHit, error) {
	if _, err := c.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(c)
	if err != nil {
		return nil, err
	}
	return s.findInText(ctx, e.Path, b)
}

// findInText returns the secrets of a text, as the detectors see them under the name.
func (s *secretFinder) findInText(ctx context.Context, name string, b []byte) ([]secretHit, error) {
	var out []secretHit
	var problems []error
	pass := &scan.FilePass{Context: ctx, Path: name, Size: int64(len(b)), ReadFile: func() ([]byte, error) {
		return b, nil
	},
		Reporter: scan.Reporter{
			Report: func(r *finding.Rule, f finding.Finding) {
				f.Location.Path = name
				out = append(out, secretHit{r, f})
			},
			Package: func(finding.Package) {},
			Degrade: func(r scan.Reason) { problems = append(problems, errors.New(r.Message)) },
		}}
	for _, a := range s.detectors {
		if a.Match(name) {
			if err := a.File(pass); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return out, errors.Join(problems...)
}

// reportSecrets reports the secrets of every layer, each once for its file: in the
// lowest layer that holds it, and as deleted when the image does not show it.
func (e *examination) reportSecrets() {
	type place struct{ rule, identity string }
	for _, name := range e.overlay.sortedPaths() {
		versions := e.overlay.held[name]
		told := map[place]int{} // with the number of equal ones in one version
		shown := map[place]bool{}
		if v := e.overlay.visibleVersion(name); v != nil {
			for _, h := range v.hits {
				shown[place{h.rule.ID, h.Identity}] = true
			}
		}
		for _, v := range versions {
			count := map[place]int{}
			for _, h := range v.hits {
				at := place{h.rule.ID, h.Identity}
				if count[at]++; count[at] <= told[at] {
					continue
				}
				told[at] = count[at]
				f := h.Finding
				f.Layer = e.describeLayer(v.layer)
				f.Layer.Deleted = !shown[at]
				f.Cause = "" // every layer has to be built anew: places stay apart
				f.Message = withLayer(cmp.Or(f.Message, h.rule.Name), f.Layer)
				e.Report(h.rule, f)
			}
		}
	}
}

// withLayer adds to a message in which layer something was seen.
func withLayer(message string, l *finding.Layer) string {
	switch {
	case l.Deleted:
		return message + ", in a file that a later layer removes or replaces: the layer still contains it"
	case l.Base:
		return message + ", in a layer of the base image"
	}
	return message
}

// setuidFile is a file that runs with the rights of its owner or group.
type setuidFile struct {
	uid   int
	group bool
}

// noteMode keeps files that run with other rights than those of who starts them.
func (e *examination) noteMode(entry *oci.Entry) {
	if entry.Mode&(modeSetuid|modeSetgid) == 0 || entry.Mode&0o111 == 0 || standardPrograms[path.Base(entry.Path)] {
		return
	}
	e.keepVersion(entry.Path, &fileVersion{layer: e.layer.Index, entry: e.number, gone: -1,
		setuid: &setuidFile{uid: entry.UID, group: entry.Mode&modeSetuid == 0}}, true)
}
