package workload

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file holds the rules for Dockerfiles, after
// https://docs.docker.com/build/building/best-practices/.

// containerFile returns the rules for Dockerfiles, one row each: the texts of the rule and the
// function that evaluates it.
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
	// the value with its line; its path is the instruction as written
	spot
	// in lower case; for ONBUILD the instruction that it postpones
	cmd string
	// the arguments: of ENV names and values by turns, of COPY and ADD the target last
	values []string
	// as written: "--from=build", "--chown=app"
	flags []string
}

// listInstructions returns the instructions of all stages.
func (l *look) listInstructions() []instruction {
	var out []instruction
	stages, _ := l.rootValue().valueAt("command").value.(map[string]any)
	// ARG before the first FROM belongs to no stage.
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

// buildSecret reports secrets in ENV and ARG (CWE-538). Both remain readable in the history of the
// image: `docker history` prints them to everybody who can pull it.
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
				// ARG without a default is reported too: the value of --build-arg ends in the
				// history.
				if secretName.MatchString(name) && (!ok || isSecret(name, strings.Trim(value, `"'`))) {
					l.report(i.spot, "ARG "+name+" takes a secret", "the secret is mounted")
				}
			}
		}
	}
}

// secretFile matches paths of files that contain credentials by convention: dot files of clients,
// private keys, key stores, and the folder .ssh. A trailing slash is that of a folder.
var secretFile = lazyregexp.New(`(?i)(?:^|/)(?:\.env|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.dockercfg|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:pem|p12|pfx|jks|keystore|kdbx)|\.aws/credentials|credentials\.json|\.ssh)/?$`)

// copiedSecret reports credential files that COPY or ADD takes from the build context. A file that
// a later instruction deletes still lies in the layer below.
func copiedSecret(l *look) {
	for _, i := range l.listInstructions() {
		if i.cmd != "copy" && i.cmd != "add" || len(i.values) < 2 {
			continue
		}
		// A file of another stage was made in the build and does not come from the developer's
		// disk.
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

// The rules that need only a pattern over the commands of RUN. The second argument is the format of
// what was found, the third what is expected.
var (
	// curl … | sh, and sh -c "$(curl …)": whoever controls the server or the network runs commands
	// in the build.
	remoteScript = matching(lazyregexp.New(`\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/bin/|/usr/bin/)?(?:env\s+\S+\s+)?(?:ba|z|da|k)?sh\b|\b(?:ba|z|da|k)?sh\s+(?:-c\s+"?\$\(|<\()\s*(?:curl|wget)\b`),
		"a script from the network runs: %.80s", "the script is checked before it runs")
	// Options of curl, wget, pip, apt, rpm, apk, npm, git, Node.js and Python that switch off the
	// verification of certificates or signatures.
	uncheckedDownload = matching(lazyregexp.New(`\bcurl\b[^|;&]*\s(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure)(?:\s|$)|\bwget\b[^|;&]*--no-check-certificate|\bpip3?\b[^|;&]*--trusted-host|--allow-unauthenticated|--force-yes|--nogpgcheck|--no-gpg-check(?:s)?\b|--allow-untrusted|strict-ssl(?:=|\s+)false|http\.sslVerify(?:=|\s+)(?:"?false|0)|NODE_TLS_REJECT_UNAUTHORIZED=["']?0|PYTHONHTTPSVERIFY=["']?0|GIT_SSL_NO_VERIFY=["']?(?:1|true)`),
		"nothing is checked: %.80s", "certificates and signatures are checked")
	// echo root:secret | chpasswd, and useradd -p HASH. A value that begins with $ is a variable
	// and not reported.
	setPassword = matching(lazyregexp.New(`\becho\b[^|;&]*[^$\s"']:[^\s$|"'][^|;&$]*\|\s*(?:sudo\s+)?chpasswd|\b(?:useradd|usermod)\b[^|;&]*\s(?:-p|--password)[ =]["']?[^$\s"'-]`),
		"a password is set in the build", "the account has no password")
	// Another user of the container, or a compromised process, can replace such files.
	worldWritable = matching(lazyregexp.New(`\bchmod\s+(?:-\S+\s+)*(?:0?777|a\+rwx|ugo\+rwx)\b`),
		"everybody may write: %.80s", "the files belong to the user that needs them")
	// A distribution upgrade makes the build depend on its date and leaves the base image behind.
	upgraded = matching(lazyregexp.New(`\bapt(?:-get)?\s+(?:-\S+\s+)*(?:dist-upgrade|full-upgrade)\b|\bdo-release-upgrade\b|\bzypper\s+(?:-\S+\s+)*(?:dup|dist-upgrade)\b`),
		"the whole distribution is upgraded: %.60s", "the base image is newer")
)

// remoteAdd reports ADD of a URL without --checksum: the builder fetches whatever the server
// delivers on that day.
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

// manyHealthchecks reports a second HEALTHCHECK of a stage. Docker applies only the last one, so
// the first is dead text that looks like a check.
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

// insecureRun reports RUN that leaves the sandbox of BuildKit: --security=insecure grants all
// capabilities, --network=host reaches services on the loopback interface of the build host.
func insecureRun(l *look) {
	for _, i := range l.listInstructions() {
		for _, f := range i.flags {
			if i.cmd == "run" && (f == "--security=insecure" || f == "--network=host") {
				l.report(i.spot, "RUN "+f, "the instruction runs in isolation")
			}
		}
	}
}
