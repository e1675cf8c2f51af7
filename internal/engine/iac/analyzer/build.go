package analyzer

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/iac/kics"
)

// This file judges what rules say of the commands and files of an image build, and of the volumes of
// Compose, by more than the words that the rules look for.

// commandSeparators stand between the commands of a RUN instruction.
var commandSeparators = regexp.MustCompile(`&&|\|\||[;|&\n]`)

// execForm writes RUN ["npm", "add", "x"] as a shell has it.
var execForm = strings.NewReplacer(`["`, ` `, `","`, ` `, `", "`, ` `, `"]`, ` `)

// installsPinned reports whether all packages that a RUN instruction installs by npm, pnpm, yarn or
// bun have a version. Without a package these install what the lock file says.
func installsPinned(_ *treeFacts, f kics.Flaw) bool {
	command, _, _ := strings.Cut(strings.TrimPrefix(f.Actual, "'"), "' does not uses")
	command = execForm.Replace(command)
	for _, one := range commandSeparators.Split(command, -1) {
		if slices.ContainsFunc(installedPackages(strings.Fields(one)), isUnpinned) {
			return false
		}
	}
	return true
}

// installedPackages returns the packages that a command names for a package manager to install.
func installedPackages(words []string) []string {
	at := slices.IndexFunc(words, func(w string) bool {
		return slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, path.Base(w))
	})
	if at < 0 {
		return nil
	}
	var packages []string
	installs := false
	words = words[at+1:]
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case slices.Contains([]string{"--prefix", "--registry", "--loglevel", "--cache", "-C", "--dir", "--filter", "-w"}, w):

			i++ // the value of the option
		case strings.HasPrefix(w, "-"), w == "global":
		case !installs && !slices.Contains([]string{"install", "i", "add"}, w):
			return nil // another command
		case !installs:
			installs = true
		default:
			packages = append(packages, w)
		}
	}
	return packages
}

// isUnpinned reports whether a package has no version. Files, archives and repositories have none.
func isUnpinned(name string) bool {
	name = strings.Trim(name, `"'\`)
	switch {
	case name == "", strings.HasPrefix(name, "."), strings.HasPrefix(name, "/"), strings.HasPrefix(name, "git"),
		strings.Contains(name, "://"), strings.HasSuffix(name, ".tgz"), strings.Contains(name, "$"):
		return false
	}
	return !strings.Contains(strings.TrimPrefix(name, "@"), "@")
}

// registryToken matches a credential in the configuration of npm: a value, and not a variable.
var registryToken = regexp.MustCompile(`(?m)^[^#;\n]*(?:_authToken|_auth|_password)\s*=\s*["']?[^\s"'$]`)

// hasNoToken reports whether a file .npmrc that is copied into an image holds settings only. One that
// is not part of the tree is made for the build, and may hold a token.
func hasNoToken(t *treeFacts, f kics.Flaw) bool {
	name, _, _ := strings.Cut(f.Actual, " ")
	if path.Base(name) != ".npmrc" || t.files == nil {
		return false
	}
	found := false
	for dir := path.Dir(f.Path); ; dir = path.Dir(dir) {
		// The folder of the build is that of the file, or one above it.
		for _, candidate := range []string{path.Join(dir, name), path.Join(dir, ".npmrc")} {
			if !t.paths[candidate] {
				continue
			}
			text, err := fs.ReadFile(t.files, candidate)
			if err != nil || registryToken.Match(text) {
				return false
			}
			found = true
		}
		if dir == "." {
			return found
		}
	}
}

// isAnonymousVolume reports whether a volume of Compose has no source: it is a path of the container
// alone, "/var/lib/mysql", and Docker makes a volume for it.
func isAnonymousVolume(f kics.Flaw) bool {
	text, ok := followSteps(f.Document.Root, f.Steps).(string)
	return ok && len(f.Steps) == 4 && f.Steps[2] == "volumes" && !strings.Contains(text, ":")
}
