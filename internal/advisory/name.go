package advisory

import (
	"hash/fnv"
	"strings"
)

// This file says when two spellings name the same package. A wrong answer here
// loses advisories, so where a registry treats two spellings as one package, so
// do we.

// splitEcosystem cuts "Debian:12" into "Debian" and "12". The suffix is a
// release or a registry; most ecosystems have none.
func splitEcosystem(ecosystem string) (base, suffix string) {
	base, suffix, _ = strings.Cut(ecosystem, ":")
	return base, suffix
}

// sameRelease reports whether a record about one release of an ecosystem speaks
// of another. A missing suffix stands for every release.
func sameRelease(record, asked string) bool {
	_, a := splitEcosystem(record)
	_, b := splitEcosystem(asked)
	return a == b || a == "" || b == ""
}

// normalName returns the one spelling of a package's name in the ecosystem.
func normalName(base, name string) string {
	switch base {
	case "PyPI":
		return pep503(name)
	case "NuGet", "Packagist", "Hex", "GitHub Actions", "Bitnami", "Pub", "ConanCenter":
		return strings.ToLower(name)
	case "crates.io": // the registry refuses a name that differs in these only
		return strings.ReplaceAll(strings.ToLower(name), "_", "-")
	case "SwiftURL":
		name = strings.ToLower(name)
		if _, rest, ok := strings.Cut(name, "://"); ok {
			name = rest
		}
		return strings.TrimSuffix(strings.TrimSuffix(name, "/"), ".git")
	}
	return name
}

// pep503 normalises a Python project's name: lower case, and each run of '-',
// '_' and '.' is one '-' (https://peps.python.org/pep-0503/#normalized-names).
func pep503(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	run := false
	for _, r := range strings.ToLower(name) {
		if r == '-' || r == '_' || r == '.' {
			run = true
			continue
		}
		if run {
			b.WriteByte('-')
			run = false
		}
		b.WriteRune(r)
	}
	if run {
		b.WriteByte('-')
	}
	return b.String()
}

// packageKey names a package in the index.
type packageKey struct{ base, name string }

// newPackageKey returns the key of a package, in the one spelling that the index has.
func newPackageKey(ecosystem, name string) packageKey {
	base, _ := splitEcosystem(ecosystem)
	return packageKey{base, normalName(base, name)}
}

// hashKey is the position of the key in the index. Keys may share one.
func (k packageKey) hashKey() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(k.base)) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(k.name))
	return h.Sum64()
}
