package audit

import (
	"path"
	"strconv"
	"strings"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
)

// IsDependabot reports whether the path is that of Dependabot's configuration.
func IsDependabot(p string) bool {
	dir, base := path.Split(p)
	return (base == "dependabot.yml" || base == "dependabot.yaml") &&
		(dir == ".github/" || strings.HasSuffix(dir, "/.github/"))
}

// minimum is the delay in days below which a new version is taken for fresh.
const minimum = 7

// settingEdits replaces the line of a setting of one line that begins it.
func settingEdits(src *document.Source, key *document.Node, setting string) []finding.Edit {
	line := src.Line(key.Line)
	if strings.TrimSpace(line[:key.Column-1]) != "" {
		return nil
	}
	return []finding.Edit{replaceLine(key.Line, indented(key.Column-1, setting))}
}

// Dependabot checks the configuration. Its error is a *document.Error. A new version is
// most dangerous in its first days, before a stolen account or a malicious package is
// noticed; a cooldown waits for that.
func Dependabot(p string, b []byte, out func(*finding.Rule, finding.Finding)) error {
	docs, err := document.ParseAll(b, pipeline.Limits)
	if err != nil {
		return err
	}
	if len(docs) == 0 || !docs[0].Get("updates").IsList() {
		return &document.Error{Line: 1, Message: "has no list of updates"}
	}
	src := document.NewSource(b)
	report := func(id string, n *document.Node, message string, edits ...finding.Edit) {
		f := finding.Finding{Message: message, Location: locationOf(p, src.Whole(n)), Cause: causeOf(id, "", p)}
		if len(edits) > 0 {
			f.Fix = &finding.Fix{Description: "Change the settings of the updates", Path: p, Edits: edits}
		}
		out(Rules.Get(id), f)
	}
	groups := docs[0].Get("multi-ecosystem-groups")
	for _, u := range docs[0].Get("updates").Items {
		eco := u.Get("package-ecosystem")
		if eco == nil {
			continue
		}
		if x := u.Get("insecure-external-code-execution"); x.Text() == "allow" {
			key := u.Key("insecure-external-code-execution")
			report("dependabot-execution", key, "Updates of "+eco.Text()+" run code of the dependencies",
				settingEdits(src, key, "insecure-external-code-execution: deny")...)
		}
		cooldown := u.Get("cooldown")
		if cooldown == nil {
			cooldown = groups.Get(u.Get("multi-ecosystem-group").Text()).Get("cooldown")
		}
		days := cooldown.Get("default-days")
		n, err := strconv.Atoi(days.Text())
		switch {
		case cooldown == nil:
			key := u.Key("package-ecosystem")
			var edits []finding.Edit
			if strings.Trim(src.Line(key.Line)[:key.Column-1], " -") == "" {
				edits = append(edits, insertBefore(key.Line+1, indented(key.Column-1, "cooldown:"),
					indented(key.Column+1, "default-days: 7")))
			}
			report("dependabot-cooldown", key, "New versions of "+eco.Text()+" packages are proposed without a delay",
				edits...)
		case days == nil:
			report("dependabot-cooldown", u.Key("cooldown"), "The delay for new versions of "+eco.Text()+
				" packages has no default-days")
		case err == nil && n < minimum:
			report("dependabot-cooldown", days, "New versions of "+eco.Text()+" packages are "+
				"proposed after "+days.Text()+" days, fewer than 7",
				settingEdits(src, cooldown.Key("default-days"), "default-days: 7")...)
		}
	}
	return nil
}
