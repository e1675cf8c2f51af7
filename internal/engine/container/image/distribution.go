package image

import (
	"bufio"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

// This file tells which distribution an image is of, and what OSV calls it
// (https://ossf.github.io/osv-schema/#affectedpackage-field).

// maxRelease bounds what is read of a file that names the distribution.
const maxRelease = 64 << 10

// releaseFiles are the files that name the distribution, the one that counts first. The
// others name it where there is no os-release.
var releaseFiles = []string{"etc/os-release", "usr/lib/os-release", "etc/alpine-release", "etc/redhat-release",
	"etc/centos-release", "etc/debian_version"}

// isReleaseFile reports whether a file names the distribution.
func isReleaseFile(name string) bool { return slices.Contains(releaseFiles, name) }

// A distribution is what an image says of its operating system.
type distribution struct {
	id, version string // "debian", "12"
	pretty      string // for people
	ecosystems  []string
}

// describeOS is the distribution as the status of a scan shows it.
func (d distribution) describeOS() scan.OS {
	return scan.OS{ID: inventory.OneLine(d.id), Version: inventory.OneLine(d.version), Name: d.pretty}
}

// findDistribution returns what the image says; its id is empty when it says nothing.
func (e *examination) findDistribution() distribution {
	for _, name := range releaseFiles {
		v := e.overlay.visibleVersion(name)
		if v == nil || v.text == "" {
			continue
		}
		if d := parseRelease(name, v.text); d.id != "" {
			return d
		}
	}
	return distribution{}
}

// parseRelease reads one of the files.
func parseRelease(name, text string) distribution {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	switch path.Base(name) {
	case "os-release":
		return newDistribution(parseOSRelease(text))
	case "alpine-release":
		return newDistribution(map[string]string{"ID": "alpine", "VERSION_ID": first})
	case "debian_version":
		return newDistribution(map[string]string{"ID": "debian", "VERSION_ID": first})
	}
	for _, known := range []struct{ name, id string }{{"Rocky Linux", "rocky"}, {"AlmaLinux", "almalinux"},
		{"Red Hat Enterprise Linux", "rhel"}, {"CentOS", "centos"}, {"Fedora", "fedora"}} {
		if strings.HasPrefix(first, known.name) {
			version := ""
			if _, rest, ok := strings.Cut(first, " release "); ok {
				version, _, _ = strings.Cut(rest, " ")
			}
			return newDistribution(map[string]string{"ID": known.id, "VERSION_ID": version, "PRETTY_NAME": first})
		}
	}
	return distribution{}
}

// parseOSRelease reads os-release
// (https://www.freedesktop.org/software/systemd/man/latest/os-release.html).
func parseOSRelease(text string) map[string]string {
	out := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		key, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		if q, err := strconv.Unquote(value); err == nil {
			value = q
		}
		out[key] = strings.Trim(value, `"'`)
	}
	return out
}

// newDistribution returns the distribution of the fields of os-release.
func newDistribution(f map[string]string) distribution {
	d := distribution{id: strings.ToLower(f["ID"]), version: f["VERSION_ID"]}
	d.pretty = inventory.OneLine(cmp.Or(f["PRETTY_NAME"], strings.TrimSpace(d.id+" "+d.version)))
	d.ecosystems = listEcosystems(d, f)
	return d
}

// A namingScheme makes the names that OSV has for the packages of a distribution, of what
// its os-release says.
type namingScheme func(d distribution, fields map[string]string) []string

// namingSchemes has the scheme of each distribution by its ID in os-release.
var namingSchemes = map[string]namingScheme{
	"debian":                       byMajor("Debian"),
	"rocky":                        byMajor("Rocky Linux"),
	"almalinux":                    byMajor("AlmaLinux"),
	"azurelinux":                   byMajor("Azure Linux"),
	"mariner":                      byMajor("Azure Linux"),
	"alpaquita":                    byVersion("Alpaquita"),
	"bellsoft-hardened-containers": byVersion("BellSoft Hardened Containers"),
	"mageia":                       byVersion("Mageia"),
	"photon":                       byVersion("Photon OS"),
	"wolfi":                        rolling("Wolfi"),
	"chainguard":                   rolling("Chainguard"),
	"minimos":                      rolling("MinimOS"),
	"opensuse-tumbleweed":          rolling("openSUSE:Tumbleweed"),
	"ubuntu":                       ubuntuNames,
	"alpine":                       alpineNames,
	"rhel":                         redHatNames,
	"sles":                         suseNames,
	"openeuler":                    openEulerNames,
	"opensuse-leap": func(d distribution, _ map[string]string) []string {
		return []string{"openSUSE:Leap " + d.version}
	},
}

// listEcosystems returns what OSV calls the packages of the distribution; nothing where
// its release is not known, because advisories are about releases.
func listEcosystems(d distribution, fields map[string]string) []string {
	if scheme := namingSchemes[d.id]; scheme != nil {
		return scheme(d, fields)
	}
	return nil
}

// numbered returns "base:version", and nothing without a version that is a number.
func numbered(base, version string) []string {
	if version == "" || version[0] < '0' || version[0] > '9' {
		return nil
	}
	return []string{base + ":" + version}
}

// byMajor names a distribution whose advisories are about major releases.
func byMajor(base string) namingScheme {
	return func(d distribution, _ map[string]string) []string {
		major, _ := d.splitVersion()
		return numbered(base, major)
	}
}

// byVersion names a distribution whose advisories are about full versions.
func byVersion(base string) namingScheme {
	return func(d distribution, _ map[string]string) []string { return numbered(base, d.version) }
}

// rolling names a distribution without releases.
func rolling(base string) namingScheme {
	return func(distribution, map[string]string) []string { return []string{base} }
}

// splitVersion returns the first two parts of the version.
func (d distribution) splitVersion() (major, minor string) {
	major, rest, _ := strings.Cut(d.version, ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}

// ubuntuNames says of a release with long-term support that it has it: it is an
// ecosystem of its own.
func ubuntuNames(d distribution, fields map[string]string) []string {
	if strings.Contains(fields["VERSION"], "LTS") && d.version != "" {
		return []string{"Ubuntu:" + d.version + ":LTS"}
	}
	return numbered("Ubuntu", d.version)
}

// alpineNames names branches, "v3.20"; pre-releases ("3.21_alpha") are of their branch.
func alpineNames(d distribution, _ map[string]string) []string {
	major, minor := d.splitVersion()
	if minor, _, _ = strings.Cut(minor, "_"); minor == "" {
		return nil
	}
	return []string{"Alpine:v" + major + "." + minor}
}

// redHatNames names the repositories of a release: one package can be in any.
func redHatNames(d distribution, _ map[string]string) []string {
	major, _ := d.splitVersion()
	base := numbered("Red Hat:enterprise_linux", major)
	if base == nil {
		return nil
	}
	return []string{base[0] + "::baseos", base[0] + "::appstream", base[0] + "::crb"}
}

// suseNames writes the minor version as service pack.
func suseNames(d distribution, _ map[string]string) []string {
	major, minor := d.splitVersion()
	name := "SUSE:Linux Enterprise Server " + major
	if minor != "" && minor != "0" {
		name += " SP" + minor
	}
	return []string{name}
}

// openEulerNames takes long-term support and service pack from VERSION: "22.03 (LTS-SP1)".
func openEulerNames(d distribution, fields map[string]string) []string {
	version := d.version
	if strings.Contains(fields["VERSION"], "LTS") {
		version += "-LTS"
		if _, pack, ok := strings.Cut(fields["VERSION"], "SP"); ok {
			version += "-SP" + strings.TrimRight(pack, ")")
		}
	}
	return numbered("openEuler", version)
}

// reportUnknownRelease reports what cannot be known of the operating system's packages.
func (e *examination) reportUnknownRelease(d distribution, packages []imagePackage) {
	var names []string
	for _, p := range packages {
		if p.system != "" {
			names = append(names, p.Name)
		}
	}
	switch {
	case d.id == "" && len(names) > 0:
		e.Degrade(scan.Reason{Code: "no-distribution",
			Message: fmt.Sprintf("the distribution of the image is unknown (there is no etc/os-release), so %s of "+
				"its operating system were not checked: %s", inventory.Count(len(names), "package"),
				inventory.List(names))})
	case d.id != "" && len(d.ecosystems) == 0 && len(names) > 0:
		e.Degrade(scan.Reason{Code: "no-data",
			Message: fmt.Sprintf("there are no advisories for %s, or its release is not known, so %s were not "+
				"checked: %s", d.pretty, inventory.Count(len(names), "package"), inventory.List(names))})
	case d.id != "" && len(names) == 0:
		e.Degrade(scan.Reason{Code: "no-packages",
			Message: fmt.Sprintf("the image is of %s, but the list of its packages is not there, so they are "+
				"not known", d.pretty)})
	}
}

// listPackages returns what the image shows, each with its layer, sorted.
func (e *examination) listPackages(d distribution) []imagePackage {
	var out []imagePackage
	for _, name := range e.overlay.sortedPaths() {
		v := e.overlay.visibleVersion(name)
		if v == nil {
			continue
		}
		for _, it := range v.items {
			it.Layer = e.describeLayer(e.overlay.originLayer(name, it))
			if it.system != "" {
				it.Ecosystem = "Linux"
				if len(d.ecosystems) > 0 {
					it.Ecosystem = d.ecosystems[0]
				}
			}
			if it.PURL == "" {
				it.PURL = it.packageURL(d)
			}
			it.Scope = finding.UnknownDependency
			out = append(out, it)
		}
	}
	return withoutInstalled(out)
}
