package remedy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/finding"
)

// This file edits Dockerfiles by their lines.

// An instruction is one of a Dockerfile, with the lines that continue it.
type instruction struct {
	name        string // in upper case
	first, last int    // lines
}

// A rewrite replaces parts of the lines of an instruction.
type rewrite struct {
	old *regexp.Regexp
	new string
}

// rewrites are the rules that options of a command meet.
var rewrites = map[string]rewrite{
	"apt-get-not-avoiding-additional-packages": {
		regexp.MustCompile(`\b(apt-get(?:\s+-\S+)*\s+install)\b`), "$1 --no-install-recommends"},
	"apt-get-missing-flags-to-avoid-manual-input": {
		regexp.MustCompile(`\b(apt-get(?:\s+-\S+)*\s+install)\b`), "$1 -y"},
	"apk-add-using-local-cache-path": {regexp.MustCompile(`\b(apk(?:\s+-\S+)*\s+add)\b`), "$1 --no-cache"},
	"pip-install-keeping-cached-packages": {
		regexp.MustCompile(`\b(pip[0-9.]*(?:\s+-\S+)*\s+install)\b`), "$1 --no-cache-dir"},
	"yum-install-allows-manual-input": {
		regexp.MustCompile(`\b(yum(?:\s+-\S+)*\s+(?:install|groupinstall|localinstall))\b`), "$1 -y"},
	"missing-flag-from-dnf-install": {
		regexp.MustCompile(`\b(dnf(?:\s+-\S+)*\s+(?:install|groupinstall|localinstall))\b`), "$1 -y"},
	"missing-zypper-non-interactive-switch": {
		regexp.MustCompile(`\bzypper(\s+(?:install|in|remove|rm|patch|update|up))\b`), "zypper --non-interactive$1"},
	"run-using-apt": {
		regexp.MustCompile(`(^|[\s;&|(])apt(\s+(?:-\S+\s+)*(?:install|update|upgrade|remove|purge|autoremove|clean)\b)`),
		"${1}apt-get$2"},
	"using-platform-with-from": {regexp.MustCompile(`^(\s*(?i:FROM)\s+)--platform=[\w/.-]+\s+`), "$1"},
}

// cleanups are the commands that an instruction ends with.
var cleanups = map[string]string{
	"apt-get-install-lists-were-not-deleted": "rm -rf /var/lib/apt/lists/*",
	"yum-clean-all-missing":                  "yum clean all",
	"missing-dnf-clean-all":                  "dnf clean all",
	"missing-zypper-clean":                   "zypper clean --all",
}

// editDockerfile returns the edits for a rule, or nil.
func editDockerfile(t Target, lines []string) []finding.Edit {
	d := &dockerfile{lines: lines}
	if !d.readInstructions() {
		return nil
	}
	rule := strings.TrimPrefix(t.Rule, "iac/dockerfile/")
	if rule == "missing-user-instruction" || rule == "last-user-is-root" {
		return d.addUser(rule)
	}
	i := slices.IndexFunc(d.list, func(i instruction) bool { return i.first <= t.Line && t.Line <= i.last })
	if i < 0 {
		return nil
	}
	if r, ok := rewrites[rule]; ok {
		return d.rewrite(d.list[i], r)
	}
	if command, ok := cleanups[rule]; ok {
		return d.appendCommand(d.list[i], command)
	}
	switch rule {
	case "add-instead-of-copy":
		return d.copyInstead(d.list[i])
	case "maintainer-instruction-being-used":
		return d.labelInstead(d.list[i])
	case "not-using-json-in-cmd-and-entrypoint-arguments":
		return d.listInstead(d.list[i])
	}
	return nil
}

// A dockerfile is the text with its instructions.
type dockerfile struct {
	lines []string
	list  []instruction
}

// readInstructions splits the lines. It is false for forms that are edited by hand:
// here-documents and another escape character.
func (d *dockerfile) readInstructions() bool {
	for i := 0; i < len(d.lines); i++ {
		line := strings.TrimSpace(d.lines[i])
		if strings.HasPrefix(strings.ToLower(strings.ReplaceAll(line, " ", "")), "#escape=") {
			return false
		}
		if line == "" || line[0] == '#' {
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		one := instruction{name: strings.ToUpper(name), first: i + 1}
		for ; i < len(d.lines); i++ {
			text := strings.TrimSpace(d.lines[i])
			if strings.Contains(text, "<<") {
				return false
			}
			// Comments and empty lines within an instruction are no end of it.
			if !strings.HasSuffix(text, "\\") && text != "" && text[0] != '#' {
				break
			}
		}
		one.last = min(i+1, len(d.lines))
		d.list = append(d.list, one)
	}
	return len(d.list) > 0
}

// rewrite replaces parts of the lines that are no comments. An instruction in the form of a list
// has no shell, and its words are edited by hand.
func (d *dockerfile) rewrite(i instruction, r rewrite) []finding.Edit {
	var out []finding.Edit
	for n := i.first; n <= i.last; n++ {
		line := d.lines[n-1]
		if strings.HasPrefix(strings.TrimSpace(line), "#") || isListForm(line) {
			continue
		}
		if changed := r.old.ReplaceAllString(line, r.new); changed != line {
			out = append(out, replaceLines(n, n, changed))
		}
	}
	return out
}

// isListForm reports whether the instruction of the line has a list of words.
func isListForm(line string) bool {
	_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	return strings.HasPrefix(strings.TrimSpace(rest), "[")
}

// appendCommand lets the instruction end with a command.
func (d *dockerfile) appendCommand(i instruction, command string) []finding.Edit {
	last := d.lines[i.last-1]
	end := strings.TrimSpace(last)
	if strings.Contains(strings.Join(d.lines[i.first-1:i.last], "\n"), strings.TrimSuffix(command, "*")) {
		return nil // with other arguments
	}
	if i.name != "RUN" || isListForm(d.lines[i.first-1]) || end == "" || end[0] == '#' ||
		strings.HasSuffix(end, ";") || strings.HasSuffix(end, "&") || strings.HasSuffix(end, "\\") {
		return nil
	}
	indent := "    "
	if i.last > i.first {
		indent = last[:len(last)-len(strings.TrimLeft(last, " \t"))]
	}
	return []finding.Edit{replaceLines(i.last, i.last, strings.TrimRight(last, " \t")+" \\", indent+"&& "+command)}
}

// fetched is a source that ADD handles and COPY does not.
var fetched = regexp.MustCompile(`(?i)://|git@|\.(tar|tgz|gz|bz2|xz|txz|tbz2?|zst)\b|--(checksum|keep-git-dir)|\$`)

// copyInstead makes COPY of ADD where the sources are files of the build.
func (d *dockerfile) copyInstead(i instruction) []finding.Edit {
	line := d.lines[i.first-1]
	at := strings.Index(strings.ToUpper(line), "ADD")
	if i.name != "ADD" || i.first != i.last || fetched.MatchString(line) || at < 0 {
		return nil
	}
	return []finding.Edit{replaceLines(i.first, i.first, line[:at]+"COPY"+line[at+len("ADD"):])}
}

// labelInstead makes a label of MAINTAINER.
func (d *dockerfile) labelInstead(i instruction) []finding.Edit {
	_, who, ok := strings.Cut(strings.TrimSpace(d.lines[i.first-1]), " ")
	who = strings.Trim(strings.TrimSpace(who), `"'`)
	if i.name != "MAINTAINER" || i.first != i.last || !ok || strings.ContainsAny(who, "\"\\$") {
		return nil
	}
	return []finding.Edit{replaceLines(i.first, i.first, `LABEL org.opencontainers.image.authors="`+who+`"`)}
}

// listInstead gives a command as a list of words where no shell is needed for it.
func (d *dockerfile) listInstead(i instruction) []finding.Edit {
	name, rest, _ := strings.Cut(strings.TrimSpace(d.lines[i.first-1]), " ")
	words := strings.Fields(rest)
	if i.name != "CMD" && i.name != "ENTRYPOINT" || i.first != i.last || len(words) == 0 ||
		strings.ContainsAny(rest, "\"'`\\$&|;<>()*?~[]{}#=") {
		return nil
	}
	var list []string
	for _, w := range words {
		quoted, err := json.Marshal(w)
		if err != nil {
			return nil
		}
		list = append(list, string(quoted))
	}
	return []finding.Edit{replaceLines(i.first, i.first, name+" ["+strings.Join(list, ", ")+"]")}
}

// createdUser is a command that makes a user; its name is the last word of the command.
var createdUser = regexp.MustCompile(`\b(?:useradd|adduser)((?:\s+[^\s;&|\\]+)+)`)

// imageUsers are users that images bring along and whose programs do not need root, by the last part of
// the image's name.
var imageUsers = map[string]string{"node": "node", "gradle": "gradle", "jenkins": "jenkins"}

// addUser switches to the user that the last stage creates or that its image brings along: before
// the program is named, or at the end.
func (d *dockerfile) addUser(rule string) []finding.Edit {
	start := len(d.list) - 1
	for start >= 0 && d.list[start].name != "FROM" {
		start--
	}
	if start < 0 {
		return nil
	}
	user, at := d.imageUser(d.list[start]), 0
	for _, i := range d.list[start:] {
		switch i.name {
		case "RUN":
			if name := d.userOf(i); name != "" {
				user = name
			}
			at = 0
		case "COPY", "ADD", "WORKDIR":
			at = 0
		case "CMD", "ENTRYPOINT":
			if at == 0 {
				at = i.first
			}
		case "USER":
			if rule == "missing-user-instruction" {
				return nil
			}
			at = 0
		}
	}
	if user == "" {
		return nil
	}
	if at == 0 {
		return []finding.Edit{insertBefore(d.list[len(d.list)-1].last+1, "USER "+user)}
	}
	for at > 1 && strings.HasPrefix(strings.TrimSpace(d.lines[at-2]), "#") { // the comment of the instruction
		at--
	}
	return []finding.Edit{insertBefore(at, "USER "+user)}
}

// imageUser returns the user of a known image.
func (d *dockerfile) imageUser(from instruction) string {
	words := strings.Fields(d.lines[from.first-1])
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "--") {
			continue
		}
		name := w[strings.LastIndexByte(w, '/')+1:]
		name, _, _ = strings.Cut(name, "@")
		name, _, _ = strings.Cut(name, ":")
		return imageUsers[name]
	}
	return ""
}

// userOf returns the name of the user that an instruction creates.
func (d *dockerfile) userOf(i instruction) string {
	var text []string
	for n := i.first; n <= i.last; n++ {
		text = append(text, strings.TrimSuffix(strings.TrimSpace(d.lines[n-1]), "\\"))
	}
	found := createdUser.FindAllStringSubmatch(strings.Join(text, " "), -1)
	if len(found) != 1 {
		return ""
	}
	words := strings.Fields(found[0][1])
	name := words[len(words)-1]
	if !plainUser.MatchString(name) || name == "root" {
		return ""
	}
	// "adduser app group" adds a user to a group.
	if len(words) > 1 && plainUser.MatchString(words[len(words)-2]) && !strings.HasPrefix(before(words), "-") {
		return ""
	}
	return name
}

// before returns the word that the second last word may be the value of.
func before(words []string) string {
	if len(words) < 3 {
		return ""
	}
	return words[len(words)-3]
}

// plainUser is the name of a user as it is written, without variables.
var plainUser = regexp.MustCompile(`^[a-z_][a-z0-9_-]*$`)
