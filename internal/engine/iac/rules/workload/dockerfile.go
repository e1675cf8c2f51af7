package workload

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file holds the rules for Dockerfiles, after
// https://docs.docker.com/build/building/best-practices/.

func containerFile() []check {
	return []check{
		{texts.Get("dockerfile/secret-in-build"), buildSecret},
		{texts.Get("dockerfile/secret-file-copied"), copiedSecret},
		{texts.Get("dockerfile/remote-script-run"), remoteScript},
		{texts.Get("dockerfile/certificate-check-disabled"), uncheckedDownload},
		{texts.Get("dockerfile/password-set-in-build"), setPassword},
		{texts.Get("dockerfile/world-writable-files"), worldWritable},
		{texts.Get("dockerfile/remote-add-without-checksum"), remoteAdd},
		{texts.Get("dockerfile/multiple-healthchecks"), manyHealthchecks},
		{texts.Get("dockerfile/distribution-upgraded"), upgraded},
		{texts.Get("dockerfile/insecure-build-mode"), insecureRun},
	}
}

// An instruction is a command of a stage.
type instruction struct {
	spot
	cmd    string
	values []string
	flags  []string
}

// listInstructions returns the instructions of all stages.
func (l *look) listInstructions() []instruction {
	var out []instruction
	stages, _ := l.rootValue().valueAt("command").value.(map[string]any)
	lists := []spot{l.rootValue().valueAt("args")}
	for _, name := range sortedKeys(stages) {
		lists = append(lists, l.rootValue().valueAt("command", name))
	}
	for _, list := range lists {
		for _, s := range list.listItems() {
			i := instruction{spot: s, cmd: s.valueAt("Cmd").textValue()}
			if i.cmd == "onbuild" {
				i.cmd = s.valueAt("SubCmd").textValue()
			}
			for _, v := range s.valueAt("Value").listItems() {
				i.values = append(i.values, v.textValue())
			}
			for _, v := range s.valueAt("Flags").listItems() {
				i.flags = append(i.flags, v.textValue())
			}
			i.path = s.valueAt("Original").textValue()
			out = append(out, i)
		}
	}
	return out
}

// sortedKeys returns the keys in order.
func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func buildSecret(l *look) {
	for _, i := range l.listInstructions() {
		switch i.cmd {
		case "env":
			for k := 0; k+1 < len(i.values); k += 2 {
				if value := strings.Trim(i.values[k+1], `"'`); isSecret(i.values[k], value) {
					l.report(i.spot, "ENV "+i.values[k]+" holds a secret", "the value is given when the "+
						"container starts")
				}
			}
		case "arg":
			for _, v := range i.values {
				name, value, ok := strings.Cut(v, "=")
				if secretName.MatchString(name) && (!ok || isSecret(name, strings.Trim(value, `"'`))) {
					l.report(i.spot, "ARG "+name+" takes a secret", "the secret is mounted")
				}
			}
		}
	}
}

var secretFile = lazyregexp.New(`(?i)(?:^|/)(?:\.env|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.dockercfg|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:pem|p12|pfx|jks|keystore|kdbx)|\.aws/credentials|credentials\.json|\.ssh)/?$`)

func copiedSecret(l *look) {
	for _, i := range l.listInstructions() {
		if i.cmd != "copy" && i.cmd != "add" || len(i.values) < 2 {
			continue
		}
		fromStage := slices.ContainsFunc(i.flags, func(f string) bool { return strings.HasPrefix(f, "--from") })
		for _, source := range i.values[:len(i.values)-1] {
			if secretFile.MatchString(source) && !fromStage {
				l.report(i.spot, source+" is copied into the image", "the file stays outside")
			}
		}
	}
}

// matching returns a rule's function that tells each RUN whose commands match.
func matching(pattern *lazyregexp.Regexp, actual, expected string) func(*look) {
	return func(l *look) {
		for _, i := range l.listInstructions() {
			if i.cmd != "run" {
				continue
			}
			if m := pattern.FindString(strings.Join(i.values, " ")); m != "" {
				l.report(i.spot, fmt.Sprintf(actual, strings.Join(strings.Fields(m), " ")), expected)
			}
		}
	}
}

var (
	remoteScript = matching(lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/bin/|/usr/bin/)?(?:env\s+\S+\s+)?(?:ba|z|da|k)?sh\b|\b(?:ba|z|da|k)?sh\s+(?:-c\s+"?\$\(|<\()\s*(?:curl|wget)\b`),
		"a script from the network runs: %.80s", "the script is checked before it runs")
	uncheckedDownload = matching(lazyregexp.New(`\bcurl\b[^|;&]*\s(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure)(?:\s|$)|\bwget\b[^|;&]*--no-check-certificate|\bpip3?\b[^|;&]*--trusted-host|--allow-unauthenticated|--force-yes|--nogpgcheck|--no-gpg-check(?:s)?\b|--allow-untrusted|strict-ssl(?:=|\s+)false|http\.sslVerify(?:=|\s+)(?:"?false|0)|NODE_TLS_REJECT_UNAUTHORIZED=["']?0|PYTHONHTTPSVERIFY=["']?0|GIT_SSL_NO_VERIFY=["']?(?:1|true)`),
		"nothing is checked: %.80s", "certificates and signatures are checked")
	setPassword = matching(lazyregexp.New(`\becho\b[^|;&]*[^$\s"']:[^\s$|"'][^|;&$]*\|\s*(?:sudo\s+)?chpasswd|\b(?:useradd|usermod)\b[^|;&]*\s(?:-p|--password)[ =]["']?[^$\s"'-]`),
		"a password is set in the build", "the account has no password")
	worldWritable = matching(lazyregexp.New(`\bchmod\s+(?:-\S+\s+)*(?:0?777|a\+rwx|ugo\+rwx)\b`),
		"everybody may write: %.80s", "the files belong to the user that needs them")
	upgraded = matching(lazyregexp.New(`\bapt(?:-get)?\s+(?:-\S+\s+)*(?:dist-upgrade|full-upgrade)\b|\bdo-release-upgrade\b|\bzypper\s+(?:-\S+\s+)*(?:dup|dist-upgrade)\b`),
		"the whole distribution is upgraded: %.60s", "the base image is newer")
)

func remoteAdd(l *look) {
	for _, i := range l.listInstructions() {
		if i.cmd != "add" || len(i.values) < 2 || slices.ContainsFunc(i.flags, func(f string) bool {
			return strings.HasPrefix(f, "--checksum")
		}) {
			continue
		}
		for _, source := range i.values[:len(i.values)-1] {
			if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
				l.report(i.spot, "ADD takes "+source+" as it comes", "the instruction names a checksum")
			}
		}
	}
}

func manyHealthchecks(l *look) {
	stages, _ := l.rootValue().valueAt("command").value.(map[string]any)
	for _, name := range sortedKeys(stages) {
		seen := false
		for _, s := range l.rootValue().valueAt("command", name).listItems() {
			if s.valueAt("Cmd").textValue() != "healthcheck" {
				continue
			}
			if s.path = s.valueAt("Original").textValue(); seen {
				l.report(s, "the stage has another HEALTHCHECK before", "there is one HEALTHCHECK")
			}
			seen = true
		}
	}
}

func insecureRun(l *look) {
	for _, i := range l.listInstructions() {
		for _, f := range i.flags {
			if i.cmd == "run" && (f == "--security=insecure" || f == "--network=host") {
				l.report(i.spot, "RUN "+f, "the instruction runs in isolation")
			}
		}
	}
}
