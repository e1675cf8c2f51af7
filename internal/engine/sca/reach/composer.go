package reach

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/sast/lang"
)

// This file tells the names of packages of Composer: their lock file has the namespaces that
// each of them loads (https://getcomposer.org/doc/04-schema.md#autoload).

// maxComposerLock bounds a composer.lock, in bytes.
const maxComposerLock = 16 << 20

// A composerPackage is what a composer.lock says of the names of a package.
type composerPackage struct {
	namespaces []string // as the call graph writes them: "Symfony.Component.Yaml"
	// silent packages work without being named: a framework discovers them, or they declare
	// functions and classes without a namespace.
	silent bool
}

// discovered are types of packages that a framework or Composer itself loads.
var discovered = []string{"composer-plugin", "symfony-bundle", "wordpress-plugin", "wordpress-theme", "drupal-module",
	"typo3-cms-extension", "magento2-module", "cakephp-plugin", "yii2-extension"}

// readComposer reads the lock files of the tree.
func (p *Program) readComposer() {
	p.composer = map[string]composerPackage{}
	for _, f := range p.tree.Files {
		if path.Base(f.Path) != "composer.lock" || f.Size > maxComposerLock || lang.ThirdParty(f.Path) != "" {
			continue
		}
		text, err := fs.ReadFile(p.tree.FS, f.Path)
		if err != nil {
			continue // the inventory says so
		}
		lock, err := document.ParseJSON(text, document.PackageLimits)
		if err != nil {
			continue
		}
		for _, list := range []string{"packages", "packages-dev"} {
			for _, pkg := range lock.Get(list).List() {
				p.composer[strings.ToLower(pkg.TextOf("name"))] = readComposerPackage(pkg)
			}
		}
	}
}

// readComposerPackage reads an entry of a composer.lock.
func readComposerPackage(pkg *document.Node) composerPackage {
	load := pkg.Get("autoload")
	out := composerPackage{silent: slices.Contains(discovered, pkg.TextOf("type")) ||
		pkg.At("extra", "laravel") != nil ||
		len(load.Get("files").List()) > 0 || len(load.Get("classmap").List()) > 0}
	for _, kind := range []string{"psr-4", "psr-0"} {
		for _, e := range load.Get(kind).Pairs() {
			// "Twig_" is a prefix of class names, as before there were namespaces.
			name := strings.Trim(strings.ReplaceAll(e.Key, `\`, "."), "._")
			if name == "" {
				out.silent = true
				continue
			}
			out.namespaces = append(out.namespaces, name)
		}
	}
	return out
}

// phpTexts are the forms of files in which a PHP program names classes of packages without an
// import: fully, or in settings of a framework.
var phpTexts = []string{".php", ".phtml", ".inc", ".module", ".yaml", ".yml", ".xml", ".neon", ".twig", ".json",
	".latte"}

// namespaceInText returns a file that has one of the namespaces in any form, or "".
func (p *Program) namespaceInText(namespaces []string) string {
	var searched []string
	for _, name := range namespaces {
		plain := strings.ReplaceAll(name, ".", `\`)
		searched = append(searched, plain+`\`, strings.ReplaceAll(plain, `\`, `\\`)+`\\`)
	}
	for _, f := range p.tree.Files {
		if !slices.Contains(phpTexts, path.Ext(f.Path)) || f.Size > maxSetting || lang.ThirdParty(f.Path) != "" ||
			manifests.MatchString(path.Base(f.Path)) {
			continue
		}
		text, err := fs.ReadFile(p.tree.FS, f.Path)
		if err != nil {
			return f.Path // it may have any
		}
		if slices.ContainsFunc(searched, func(s string) bool { return strings.Contains(string(text), s) }) {
			return f.Path
		}
	}
	return ""
}
