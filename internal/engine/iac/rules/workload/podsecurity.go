package workload

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/finding"
)

// This file makes one finding of what a workload lacks for the profile "restricted" of the Pod
// Security Standards (https://kubernetes.io/docs/concepts/security/pod-security-standards/). The
// remedy of all controls is one change of the pod template, so that a finding for each control and
// container would be one decision told many times. The rules for single controls belong to the
// profile for audits (package calibration).
//
// What breaks the profile "baseline" is no part of it: privileged containers, namespaces and
// folders of the host, added capabilities. Each is a danger with a rule of its own.

// A lack is one control that containers of the pod do not meet.
type lack struct {
	what  string   // the attribute and its state: "runAsNonRoot is not true"
	names []string // of the containers; empty: the pod as a whole
}

// podSecurity compares a pod with the restricted profile.
type podSecurity struct {
	pod        spot
	containers []spot // without those that are privileged: no setting confines them

	lacks []lack // controls of the profile
	also  []lack // hardening beyond the profile

	needsUser       bool // runAsNonRoot is missing for a container
	needsSeccomp    bool
	needsEscalation []string // containers
	needsDrop       []string // containers
}

// restrictedProfile reports workloads that admission under the restricted profile would reject.
func restrictedProfile(l *look) {
	pod, all := l.listContainers()
	if len(all) == 0 || isWindows(pod) || pod.isUnknown() {
		return
	}
	p := &podSecurity{pod: pod}
	for _, c := range all {
		if _, ok := c.value.(map[string]any); ok && !c.valueAt("securityContext", "privileged").isBool(true) {
			p.containers = append(p.containers, c)
		}
	}
	p.compare()
	if len(p.lacks) == 0 {
		return
	}
	o := l.rootObject()
	at := o.valueAt("metadata", "name")
	if !at.isPresent() {
		at = o.valueAt("kind")
	}
	at.kind, at.name = o.kind, o.name
	l.report(at, p.describe(), "")
	f := &l.flaws[len(l.flaws)-1]
	f.Key, f.Severity = "pod security", p.severity()
	f.Fragment = p.fragment()
	f.Fix = p.fix(l.doc, f.Path, f.Fragment)
}

// fix returns the change of the manifest, with the lines to merge by hand where it has no edits.
func (p *podSecurity) fix(doc *document.Document, file, fragment string) *finding.Fix {
	fix := &finding.Fix{Path: file, Edits: p.editsOf(doc),
		Description: "Set the restricted profile in the specification of the pod"}
	if fix.Edits == nil {
		fix.Edits = []finding.Edit{}
		fix.Description += ":\n\n```yaml\n" + fragment + "```"
	}
	return fix
}

// isWindows reports whether the pod runs on Windows, where the controls do not apply.
func isWindows(pod spot) bool {
	return pod.valueAt("os", "name").textValue() == "windows" ||
		pod.valueAt("nodeSelector", "kubernetes.io/os").textValue() == "windows"
}

// isUnknown reports whether only the deployment knows the value.
func (s spot) isUnknown() bool { return s.node != nil && s.node.Unknown }

// compare collects what the containers lack. A setting that only the deployment knows counts as
// made.
func (p *podSecurity) compare() {
	var user, root, escalation, drop, seccomp, writable, memory []string
	for _, c := range p.containers {
		name := c.valueAt("name").textValue()
		own := c.valueAt("securityContext")
		if own.isUnknown() {
			continue
		}
		switch {
		case p.runsAsRoot(own):
			root = append(root, name)
		case !p.refusesRoot(own):
			user = append(user, name)
		}
		if v := own.valueAt("allowPrivilegeEscalation"); !v.isBool(false) && !isOpen(v) {
			escalation = append(escalation, name)
		}
		if v := own.valueAt("capabilities", "drop"); !v.hasAny("ALL") && !isOpen(v) {
			drop = append(drop, name)
		}
		if !p.hasSeccomp(own) {
			seccomp = append(seccomp, name)
		}
		if v := own.valueAt("readOnlyRootFilesystem"); !v.isBool(true) && !isOpen(v) {
			writable = append(writable, name)
		}
		if limits := c.valueAt("resources", "limits"); !limits.valueAt("memory").isPresent() && !isOpen(limits) {
			memory = append(memory, name)
		}
	}
	p.needsUser, p.needsSeccomp = len(user)+len(root) > 0, len(seccomp) > 0
	p.needsEscalation, p.needsDrop = escalation, drop
	p.lacks = p.collect(
		lack{"runAsUser is 0", root}, lack{"runAsNonRoot is not true", user},
		lack{"allowPrivilegeEscalation is not false", escalation},
		lack{"capabilities.drop does not contain ALL", drop},
		lack{"seccompProfile is not set", seccomp})
	p.also = p.collect(lack{"readOnlyRootFilesystem is not true", writable},
		lack{"resources.limits.memory is not set", memory})
}

// isOpen reports whether the value is present and only the deployment knows it.
func isOpen(s spot) bool {
	return s.isPresent() && (s.isUnknown() || strings.Contains(s.textValue(), "{{"))
}

// collect leaves out what no container lacks, and the names where all containers lack it.
func (p *podSecurity) collect(all ...lack) []lack {
	var out []lack
	for _, one := range all {
		switch len(one.names) {
		case 0:
			continue
		case len(p.containers):
			one.names = nil
		}
		out = append(out, one)
	}
	return out
}

// effective returns a setting of the container, which overrides that of the pod.
func (p *podSecurity) effective(own spot, keys ...string) spot {
	if s := own.valueAt(keys...); s.isPresent() {
		return s
	}
	return p.pod.valueAt("securityContext").valueAt(keys...)
}

// runsAsRoot reports whether the user is root by its number.
func (p *podSecurity) runsAsRoot(own spot) bool {
	n, ok := p.effective(own, "runAsUser").intValue()
	return ok && n == 0
}

// refusesRoot reports whether the container cannot run as root. Admission requires runAsNonRoot; a
// user by its number has the same effect.
func (p *podSecurity) refusesRoot(own spot) bool {
	if v := p.effective(own, "runAsNonRoot"); v.isBool(true) || isOpen(v) {
		return true
	}
	user := p.effective(own, "runAsUser")
	n, ok := user.intValue()
	return ok && n > 0 || isOpen(user)
}

// hasSeccomp reports whether the system calls of the container are filtered.
func (p *podSecurity) hasSeccomp(own spot) bool {
	v := p.effective(own, "seccompProfile", "type")
	switch v.textValue() {
	case "RuntimeDefault", "Localhost":
		return true
	}
	return isOpen(v)
}

// severity is medium where a process may be root and gain what root has: then nothing but the
// kernel stands between a flaw of the program and the node.
func (p *podSecurity) severity() finding.Severity {
	if p.needsUser && (len(p.needsEscalation) > 0 || len(p.needsDrop) > 0) {
		return finding.Medium
	}
	return finding.Low
}

// describe names what is missing, with the containers where not all lack it.
func (p *podSecurity) describe() string {
	text := "the pod does not meet the restricted Pod Security Standard: " + joinLacks(p.lacks)
	if len(p.also) > 0 {
		text += ". Further hardening: " + joinLacks(p.also)
	}
	return text
}

// joinLacks puts the controls into one line.
func joinLacks(all []lack) string {
	var out []string
	for _, one := range all {
		text := one.what
		if len(one.names) > 0 {
			text += " (" + strings.Join(one.names, ", ") + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// A setting is one field of a security context with its lines in YAML.
type setting struct {
	key   string
	lines []string
}

// unprivilegedUser is a user that no image and no host uses for something else.
const unprivilegedUser = "runAsUser: 10001"

// podSettings are the settings that the security context of the pod lacks.
func (p *podSecurity) podSettings() []setting {
	var out []setting
	context := p.pod.valueAt("securityContext")
	if p.needsUser {
		if n, ok := context.valueAt("runAsUser").intValue(); ok && n == 0 {
			out = append(out, setting{"runAsUser", []string{unprivilegedUser}})
		}
		out = append(out, setting{"runAsNonRoot", []string{"runAsNonRoot: true"}})
	}
	if p.needsSeccomp {
		out = append(out, setting{"seccompProfile", []string{"seccompProfile:", "  type: RuntimeDefault"}})
	}
	return out
}

// containerSettings are the settings that the security context of a container lacks, and those
// that override what the pod sets.
func (p *podSecurity) containerSettings(c spot) []setting {
	var out []setting
	own, name := c.valueAt("securityContext"), c.valueAt("name").textValue()
	if n, ok := own.valueAt("runAsUser").intValue(); ok && n == 0 {
		out = append(out, setting{"runAsUser", []string{unprivilegedUser}})
	}
	if own.valueAt("runAsNonRoot").isBool(false) && !p.refusesRoot(own) {
		out = append(out, setting{"runAsNonRoot", []string{"runAsNonRoot: true"}})
	}
	if slices.Contains(p.needsEscalation, name) {
		out = append(out, setting{"allowPrivilegeEscalation", []string{"allowPrivilegeEscalation: false"}})
	}
	if slices.Contains(p.needsDrop, name) {
		out = append(out, setting{"capabilities", []string{"capabilities:", "  drop: [ALL]"}})
	}
	return out
}

// fragment returns the patch as YAML for people to merge into the specification of the pod.
func (p *podSecurity) fragment() string {
	var b strings.Builder
	if settings := p.podSettings(); len(settings) > 0 {
		b.WriteString("securityContext:\n" + joinSettings("  ", settings))
	}
	for _, field := range []string{"initContainers", "containers"} {
		head := field + ":\n"
		for _, c := range p.containers {
			if settings := p.containerSettings(c); len(settings) > 0 && c.isItemOf(field) {
				fmt.Fprintf(&b, "%s  - name: %s\n    securityContext:\n%s", head, c.valueAt("name").textValue(),
					joinSettings("      ", settings))
				head = ""
			}
		}
	}
	return b.String()
}

// isItemOf reports whether the spot is an entry of the list.
func (s spot) isItemOf(field string) bool {
	dir, _, _ := cutLast(s.path, ".")
	return dir == field || strings.HasSuffix(dir, "."+field)
}

// cutLast cuts a text at the last separator.
func cutLast(s, by string) (before, after string, found bool) {
	if i := strings.LastIndex(s, by); i >= 0 {
		return s[:i], s[i+len(by):], true
	}
	return s, "", false
}

// joinSettings writes settings as lines with an indent.
func joinSettings(indent string, all []setting) string {
	var b strings.Builder
	for _, one := range all {
		for _, line := range one.lines {
			b.WriteString(indent + line + "\n")
		}
	}
	return b.String()
}
