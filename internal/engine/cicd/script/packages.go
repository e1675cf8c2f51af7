package script

import (
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file finds packages that a script installs past the project's lock file.

var (
	// npmInstall and gemInstall match the commands of package managers that can install
	// past a lock file, with their arguments.
	npmInstall = lazyregexp.New(`(?:^|[\s;&|(])((?:npm|pnpm)\s+(?:-\S+\s+)*(?:install|i|add|in|isntall|update|up|upgrade|dlx)|npm\s+exec|yarn\s+(?:global\s+)?(?:add|dlx|upgrade)|bun\s+(?:add|install|x)|bunx|npx)((?:\s+(?:-\S+|[^\s;&|)]+))*)`)
	gemInstall = lazyregexp.New(`(?:^|[\s;&|(])(gem\s+(?:install|i|update)|bundle\s+(?:add|update))((?:\s+(?:-\S+|[^\s;&|)]+))*)`)
)

// UnlockedInstall returns the command of a line that installs packages which no lock
// file fixes, or "". Commands that follow a lock file, and local folders, are none. npx
// and its like count too: they install what is not there and run it at once.
func UnlockedInstall(line string) string {
	for _, re := range []*lazyregexp.Regexp{npmInstall, gemInstall} {
		for _, m := range re.FindAllStringSubmatch(line, -1) {
			verb, args := strings.Join(strings.Fields(m[1]), " "), registryPackages(m[2])
			if len(args) > 0 || always[verb] {
				return strings.TrimSpace(m[1] + m[2])
			}
		}
	}
	return ""
}

// exactVersion matches a package with a version: left-pad@1.3.0, @scope/name@1.2.3, rake:13.0.1.
var exactVersion = lazyregexp.New(`^@?[^@]+[@:]\d+\.\d+\.\d+[\w.+-]*$`)

// HasExactVersions reports whether the command names an exact version of every package that it
// installs. What these depend on is still not fixed.
func HasExactVersions(command string) bool {
	for _, re := range []*lazyregexp.Regexp{npmInstall, gemInstall} {
		if m := re.FindStringSubmatch(command); m != nil {
			names := registryPackages(m[2])
			if strings.HasPrefix(m[1], "npx") && len(names) > 1 {
				names = names[:1] // the others are arguments of the program
			}
			return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool {
				return !exactVersion.MatchString(n)
			})
		}
	}
	return false
}

// always lists commands that leave the lock file behind without any argument.
var always = map[string]bool{"npm update": true, "npm up": true, "npm upgrade": true, "yarn upgrade": true,
	"pnpm update": true, "pnpm up": true, "pnpm upgrade": true, "bundle update": true, "gem update": true}

// withValue lists options that take the next word.
var withValue = map[string]bool{"-w": true, "--workspace": true, "--prefix": true, "-C": true, "--dir": true,
	"--cwd": true, "--registry": true,
	"-v": true, "--version": true, "--filter": true, "-F": true, "--loglevel": true, "--install-dir": true, "-n": true,
	"--source": true, "-i": true}

// registryPackages returns the words that name packages of a registry.
func registryPackages(args string) []string {
	var out []string
	words := strings.Fields(args)
	for i := 0; i < len(words); i++ {
		w := strings.Trim(words[i], `"'`)
		switch {
		case withValue[w]:
			i++
		case strings.HasPrefix(w, "-") || w == "":
		case w == "--" || w == "#":
			return out
		case isLocalPackage(w) || strings.HasPrefix(w, "$") || strings.ContainsAny(w, "<>"):
		default:
			out = append(out, w)
		}
	}
	return out
}

// isLocalPackage reports whether a word names a folder or an archive on the disk.
func isLocalPackage(w string) bool {
	return strings.HasPrefix(w, ".") || strings.HasPrefix(w, "/") || strings.HasSuffix(w, ".tgz") ||
		strings.HasSuffix(w, ".gem")
}
