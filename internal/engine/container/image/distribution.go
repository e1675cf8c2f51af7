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

// releases are the files that name the distribution, the one that counts first.
// The others name it where there is no os-release.
var releases = []string{"etc/os-release", "usr/lib/os-release", "etc/alpine-release", "etc/redhat-release",
	"etc/centos-release", "etc/debian_version"}

func release(name string) bool { return slices.Contains(releases, name) }

// A distribution is what an image says of its operating system.
type distribution struct {
	id, version string // "debian", "12"
	pretty      string // for people
	ecosystems  []string
}

// system is the distribution as the status of a scan tells it.
func (d distribution) system() scan.OS {
	return scan.OS{ID: inventory.OneLine(d.id), Version: inventory.OneLine(d.version), Name: d.pretty}
}

// distribution returns what the image says; its id is empty when it says nothing.
func (e *examination) distribution() distribution {
	for _, name := range releases {
		v := e.overlay.seen(name)
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
		return fromFields(fields(text))
	case "alpine-release":
		return fromFields(map[string]string{"ID": "alpine", "VERSION_ID": first})
	case "debian_version":
		return fromFields(map[string]string{"ID": "debian", "VERSION_ID": first})
	}
	for _, known := range []struct{ name, id string }{{"Rocky Linux", "rocky"}, {"AlmaLinux", "almalinux"},
		{"Red Hat Enterprise Linux", "rhel"}, {"CentOS", "centos"}, {"Fedora", "fedora"}} {
		if strings.HasPrefix(first, known.name) {
			version := ""
			if _, rest, ok := strings.Cut(first, " release "); ok {
				version, _, _ = strings.Cut(rest, " ")
			}
			return fromFields(map[string]string{"ID": known.id, "VERSION_ID": version, "PRETTY_NAME": first})
		}
	}
	return distribution{}
}

// fields reads os-release
// (https://www.freedesktop.org/software/systemd/man/latest/os-release.html).
func fields(text string) map[string]string {
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

func fromFields(f map[string]string) distribution {
	d := distribution{id: strings.ToLower(f["ID"]), version: f["VERSION_ID"]}
	d.pretty = inventory.OneLine(cmp.Or(f["PRETTY_NAME"], strings.TrimSpace(d.id+" "+d.version)))
	d.ecosystems = ecosystems(d, f)
	return d
}

// ecosystems returns what OSV calls the packages of the distribution; nothing where
// its release is not known, because advisories are about releases.
func ecosystems(d distribution, f map[string]string) []string {
	major, rest, _ := strings.Cut(d.version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	number := func(base, version string) []string {
		if version == "" || version[0] < '0' || version[0] > '9' {
			return nil
		}
		return []string{base + ":" + version}
	}
	switch d.id {
	case "debian":
		return number("Debian", major)
	case "ubuntu":
		if strings.Contains(f["VERSION"], "LTS") && d.version != "" {
			return []string{"Ubuntu:" + d.version + ":LTS"}
		}
		return number("Ubuntu", d.version)
	case "alpine":
		minor, _, _ = strings.Cut(minor, "_")
		if minor == "" {
			return nil
		}
		return []string{"Alpine:v" + major + "." + minor}
	case "wolfi":
		return []string{"Wolfi"}
	case "chainguard":
		return []string{"Chainguard"}
	case "minimos":
		return []string{"MinimOS"}
	case "alpaquita":
		return number("Alpaquita", d.version)
	case "bellsoft-hardened-containers":
		return number("BellSoft Hardened Containers", d.version)
	case "rocky":
		return number("Rocky Linux", major)
	case "almalinux":
		return number("AlmaLinux", major)
	case "rhel":
		if len(number("", major)) == 0 {
			return nil
		}
		return []string{"Red Hat:enterprise_linux:" + major + "::baseos", "Red Hat:enterprise_linux:" + major +
			"::appstream", "Red Hat:enterprise_linux:" + major + "::crb"}
	case "opensuse-leap":
		return []string{"openSUSE:Leap " + d.version}
	case "opensuse-tumbleweed":
		return []string{"openSUSE:Tumbleweed"}
	case "sles":
		name := "SUSE:Linux Enterprise Server " + major
		if minor != "" && minor != "0" {
			name += " SP" + minor
		}
		return []string{name}
	case "azurelinux", "mariner":
		return number("Azure Linux", major)
	case "openeuler":
		version := d.version
		if strings.Contains(f["VERSION"], "LTS") {
			version += "-LTS"
			if _, sp, ok := strings.Cut(f["VERSION"], "SP"); ok {
				version += "-SP" + strings.TrimRight(sp, ")")
			}
		}
		return number("openEuler", version)
	case "mageia":
		return number("Mageia", d.version)
	case "photon":
		return number("Photon OS", d.version)
	}
	return nil
}

// lacksDistribution says what cannot be known of the operating system's packages.
func (e *examination) lacksDistribution(d distribution, packages []item) {
	var names []string
	for _, p := range packages {
		if p.system != "" {
			names = append(names, p.Name)
		}
	}
	switch {
	case d.id == "" && len(names) > 0:
		e.Degrade(scan.Reason{Code: "no-distribution",
			Message: fmt.Sprintf("the image does not say which distribution it is of (there is no etc/os-release), "+
				"so %s of its operating system were not checked: %s", inventory.Count(len(names), "package"),
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

// packages returns what the image shows, each with its layer, sorted.
func (e *examination) packages(d distribution) []item {
	var out []item
	for _, name := range e.overlay.names() {
		v := e.overlay.seen(name)
		if v == nil {
			continue
		}
		for _, it := range v.items {
			it.Layer = e.layerOf(e.overlay.brought(name, it))
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
