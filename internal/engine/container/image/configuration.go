package image

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"merlon/internal/engine/sca/inventory"
	"merlon/internal/finding"
	oci "merlon/internal/image"
	"merlon/internal/scan"
)

// This file examines how the image was built and how it is run. Its history is
// shown like a file, HistoryPath, with one step on each line; what is set for
// running it like another, ConfigPath.

// Names under which findings speak of what is no file of the image.
const (
	HistoryPath = "image-history"
	ConfigPath  = "image-config"
)

// configurationCheck is one examination of the configuration.
type configurationCheck struct {
	*scan.ImagePass
	steps   buildSteps
	secrets *secretFinder
}

// checkConfiguration reports what is wrong with the configuration.
func (e *examination) checkConfiguration() error {
	c := configurationCheck{ImagePass: e.ImagePass, secrets: e.secrets, steps: e.steps}
	c.checkUser()
	c.checkBase()
	c.checkPorts()
	c.checkHealth()
	if err := c.checkEnvironment(); err != nil {
		return err
	}
	c.checkHistory()
	return nil
}

// buildSteps are the steps of the history as they may be shown, and the secrets in them.
type buildSteps struct {
	shown   []string
	ofLayer map[int]string // the step that made a layer
	secrets [][]stepSecret
}

// stepSecret is a secret of a step.
type stepSecret struct {
	name  string
	match *finding.SecretMatch
}

// hiddenStep stands for a step of which it is not known where the secret begins and ends.
const hiddenStep = "(not shown: the step contains a secret)"

// readSteps reads the history: the arguments of the build, assignments in commands, and
// what detectors find in them. Variables that stay are checked by checkEnvironment.
func (s *secretFinder) readSteps(ctx context.Context, img *oci.Image) (buildSteps, error) {
	out := buildSteps{ofLayer: map[int]string{}}
	for _, h := range img.History {
		step := oci.Instructed(h.Text)
		text := step
		if m := buildArguments.FindStringSubmatch(h.Text); m != nil {
			text = m[1] + " " + step
		}
		var found []stepSecret
		for _, m := range assignment.FindAllStringSubmatch(text, -1) {
			if isSecretVariable(m[1], strings.Trim(m[2], `"'`)) &&
				!slices.ContainsFunc(found, func(t stepSecret) bool { return t.name == m[1] }) {
				found = append(found, stepSecret{name: m[1]})
			}
		}
		shown := redactAssignments(step)
		hits, err := s.findInText(ctx, "history.sh", []byte(redactAssignments(text)+"\n"))
		if stop := contextError(ctx); err != nil && stop != nil {
			return out, stop
		}
		for _, x := range hits {
			if x.Secret != nil {
				found = append(found, stepSecret{x.Secret.Kind, x.Secret})
				shown = hiddenStep
			}
		}
		shown = inventory.OneLine(shown)
		out.shown, out.secrets = append(out.shown, shown), append(out.secrets, found)
		if h.Layer >= 0 {
			out.ofLayer[h.Layer] = shown
		}
	}
	return out, nil
}

// reportConfig reports a finding in what is set for running the image.
func (c *configurationCheck) reportConfig(r *finding.Rule, message, identity string) {
	c.Report(r, finding.Finding{Message: message, Language: "dockerfile", Location: finding.Location{Path: ConfigPath},
		Identity: identity})
}

// checkUser reports a container that runs as root.
func (c *configurationCheck) checkUser() {
	user, _, _ := strings.Cut(strings.TrimSpace(c.Image.Config.Config.User), ":")
	if user == "" || user == "0" || user == "root" {
		c.reportConfig(ruleRoot, "A container of the image runs as root: no other user is set", "user")
	}
}

// checkBase reports a base image that is not pinned.
func (c *configurationCheck) checkBase() {
	name := c.Image.BaseName()
	if name == "" || strings.Contains(name, "@sha256:") || strings.HasPrefix(name, "sha256:") {
		return
	}
	last := name[strings.LastIndexByte(name, '/')+1:]
	if _, tag, ok := strings.Cut(last, ":"); !ok || tag == "latest" {
		c.reportConfig(ruleMovingBase, fmt.Sprintf("The image is built from %s, which is another image every time "+
			"that one is "+
			"published", inventory.OneLine(name)), "base "+last)
	}
}

// checkPorts reports ports of remote login: a shell service does not belong into a
// container.
func (c *configurationCheck) checkPorts() {
	for _, port := range []string{"22/tcp", "22", "2222/tcp", "23/tcp", "23"} {
		if _, ok := c.Image.Config.Config.ExposedPorts[port]; ok {
			c.reportConfig(ruleRemoteLogin, fmt.Sprintf("The image exposes port %s, where one signs in to the "+
				"container", port),
				"port "+port)
		}
	}
}

// checkHealth reports an image that offers a service without a health check.
func (c *configurationCheck) checkHealth() {
	h := c.Image.Config.Config.Healthcheck
	if len(c.Image.Config.Config.ExposedPorts) > 0 && (h == nil || len(h.Test) == 0 || h.Test[0] == "NONE") {
		c.reportConfig(ruleHealth, "The image offers a service and has no check of its health", "health")
	}
}

// secretName matches names of variables that hold secrets.
var secretName = regexp.MustCompile(`(?i)(^|_)(pass(wd|word|phrase)?|secret|token|api_?key|access_?key|private_?key|secret_?key|credentials?|auth)$`)

// notSecret matches values that are not secrets: a path to one, a setting, or a
// placeholder.
var notSecret = regexp.MustCompile(`(?i)^($|/|file:|https?://[^@]*$|\$|<.*>$|\{\{|(true|false|yes|no|on|off|none|null|nil|required|optional|disabled|enabled|\d{1,5})$)|(change_?me|your[-_ ]|example|placeholder|replace[-_ ]|xxxx|\*\*\*)`)

// isSecretVariable reports whether a variable holds a secret by its name.
func isSecretVariable(name, value string) bool {
	return secretName.MatchString(name) && !strings.HasSuffix(strings.ToUpper(name), "_FILE") &&
		!notSecret.MatchString(value)
}

// checkEnvironment looks for secrets in the variables of every container.
func (c *configurationCheck) checkEnvironment() error {
	for n, variable := range c.Image.Config.Config.Env {
		name, value, _ := strings.Cut(variable, "=")
		line := n + 1
		if isSecretVariable(name, value) {
			c.reportSecret(ruleEnvironment, secretAt{ConfigPath, line, name, "ENV " + name + "=" + finding.Redacted},
				nil)
			continue
		}
		if notSecret.MatchString(value) {
			continue
		}
		hits, err := c.secrets.findInText(c.Context, ".env", []byte(variable+"\n"))
		if err != nil && contextError(c.Context) != nil {
			return contextError(c.Context)
		}
		if len(hits) > 0 {
			c.reportSecret(ruleEnvironment, secretAt{ConfigPath, line, name, "ENV " + name + "=" + finding.Redacted},
				hits[0].Secret)
		}
	}
	return nil
}

// secretAt is a place outside of files where a secret stands.
type secretAt struct {
	path    string
	line    int
	name    string
	snippet string
}

// reportSecret reports a secret of the configuration; match is what a detector saw.
func (c *configurationCheck) reportSecret(r *finding.Rule, at secretAt, match *finding.SecretMatch) {
	if match == nil {
		match = &finding.SecretMatch{Kind: "Value of " + inventory.OneLine(at.name)}
	}
	c.Report(r, finding.Finding{
		Message: r.ShortDescription + ": " + inventory.OneLine(at.name), Language: "dockerfile",
		Location: finding.Location{Path: at.path, StartLine: at.line, EndLine: at.line},
		Snippet:  &finding.Snippet{StartLine: at.line, Lines: []string{at.snippet}},
		Secret:   match, Identity: at.path + " " + at.name,
	})
}

var (
	// buildArgument matches an argument of a build with its value, as builders put
	// it before the command: "|2 NAME=value NAME=value /bin/sh -c …".
	buildArguments = regexp.MustCompile(`^(?:RUN )?\|\d+ (.*?)(?:/bin/sh -c|$)`)
	assignment     = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s;&|]*)`)
	remoteAdd      = regexp.MustCompile(`^ADD (?:--\S+ )*(https?)://(\S+)`)
	piped          = regexp.MustCompile(`\b(?:curl|wget)\b[^|;&]*https?://[^|;&]*\|\s*(?:sudo\s+(?:-E\s+)?)?(?:ba|z|da)?sh\b`)
	insecure       = regexp.MustCompile(`(?:\bcurl\b[^|;&]*\s(?:-k|--insecure)\b|\bwget\b[^|;&]*--no-check-certificate|--allow-unauthenticated|--no-gpg-check|--nogpgcheck|--allow-untrusted)`)
	everybody      = regexp.MustCompile(`\bchmod\s+(?:-\S+\s+)*(?:0?777|a\+w|ugo\+w|o\+w)\b`)
)

// checkHistory analyzes the steps of the build. Whoever built the base image answers for
// its steps; what they hold is in the history of that image already.
func (c *configurationCheck) checkHistory() {
	for n, h := range c.Image.History {
		if h.Base {
			continue
		}
		step := oci.Instructed(h.Text)
		for _, check := range []struct {
			rule    *finding.Rule
			pattern *regexp.Regexp
			message string
		}{
			{rulePiped, piped, "A script from the network is run without being checked"},
			{ruleInsecure, insecure, "Something is fetched without checking who sent it"},
			{ruleEverybody, everybody, "Files are made writable for every user"},
		} {
			if m := check.pattern.FindString(step); m != "" && strings.HasPrefix(step, "RUN ") {
				c.reportStep(check.rule, n, check.message, m)
			}
		}
		if m := remoteAdd.FindStringSubmatch(step); m != nil && !strings.Contains(step, "--checksum=") {
			c.reportStep(ruleRemoteAdd, n, fmt.Sprintf("A file from %s is added without its checksum", m[1]), m[2])
		}
		word, _, _ := strings.Cut(step, " ")
		if word == "ENV" || word == "LABEL" {
			continue
		}
		for _, t := range c.steps.secrets[n] {
			c.reportSecret(ruleHistory, secretAt{HistoryPath, n + 1, t.name, c.steps.shown[n]}, t.match)
		}
	}
}

// reportStep reports a finding in a step of the history.
func (c *configurationCheck) reportStep(r *finding.Rule, n int, message, identity string) {
	f := finding.Finding{Message: message, Language: "dockerfile", Identity: r.ID + " " + redactAssignments(identity),
		Location: finding.Location{Path: HistoryPath, StartLine: n + 1, EndLine: n + 1},
		Snippet:  &finding.Snippet{StartLine: n + 1, Lines: []string{c.steps.shown[n]}}}
	if h := c.Image.History[n]; h.Layer >= 0 {
		l := c.Image.Layers[h.Layer]
		f.Layer = &finding.Layer{Index: h.Layer, Digest: l.Digest, Instruction: c.steps.shown[n], Base: l.Base}
	}
	c.Report(r, f)
}

// redactAssignments takes the values out of assignments to names of secrets.
func redactAssignments(step string) string {
	return assignment.ReplaceAllStringFunc(step, func(s string) string {
		name, value, _ := strings.Cut(s, "=")
		if isSecretVariable(name, strings.Trim(value, `"'`)) {
			return name + "=" + finding.Redacted
		}
		return s
	})
}
