package credentials

import (
	"encoding/base64"
	"strings"
	"time"

	"merlon/internal/engine/secrets/credfile"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/severity"
)

// This file judges what the rules found. What cannot be a credential is dropped. What has the form
// of one but is likely an example stays, with a term that takes it out of the default profile: an
// auditor sees it, and a rule of form cannot be sure.

// example is worth so many steps that no example is in the default profile.
const example = -4

// judgeSecret reports whether the match may be a credential, and adds what its value says about
// its severity.
func judgeSecret(text string, s *secret) bool {
	if isInsideBase64(text, s.at) {
		return false
	}
	switch s.rule {
	case genericRule:
		if !credfile.MayBeSecret(text, s.at.start, s.at.end) {
			return false
		}
		switch {
		case credfile.IsUUID(s.value):
			s.addTerm(severity.Harmless, "UUID, which identifies more often than it protects")
		case len(s.value) < 12:
			s.addTerm(severity.Lowered, "short value")
		}
	case keyRule:
		if !keyBody.MatchString(s.value) {
			return false
		}
	case "private-key-base64":
		if !isEncodedKey(s.value) {
			return false
		}
	case "jwt":
		judgeJSONWebToken(s)
	case "curl-auth-header", "curl-auth-user":
		if !isCurlCredential(strings.Trim(s.value, `"'`)) {
			return false
		}
	case "kubernetes-secret-yaml":
		if isExampleManifest(s.value) {
			return false
		}
	}
	if reason := exampleReason(s.rule, s.value); reason != "" {
		s.addTerm(example, reason)
	}
	judgePlace(text, s)
	return true
}

// judgePlace adds what the lines around a secret say about it.
func judgePlace(text string, s *secret) {
	if s.at == (span{}) {
		return
	}
	if credfile.IsDevelopmentSection(text, s.at.start) {
		s.addTerm(example+1, "section for development or tests")
	}
	if !credfile.IsExampleContext(text, s.at.start) {
		return
	}
	points := example + 1
	if s.rule == keyRule {
		points = example
	}
	s.addTerm(points, "example of a description or a form")
}

// isEncodedKey reports whether the text is that of a private key in PEM, and not of a certificate,
// which begins with the same dashes.
func isEncodedKey(value string) bool {
	b, err := base64.StdEncoding.DecodeString(value[:60])
	return err == nil && strings.Contains(string(b), "PRIVATE KEY") && !strings.Contains(string(b), "ENCRYPTED")
}

// isCurlCredential reports whether the argument of curl is a credential: a token, or a user with a
// password. Some services take a key as user, with an empty password.
func isCurlCredential(value string) bool {
	user, password, ok := strings.Cut(value, ":")
	if ok && password == "" {
		return credfile.IsRandom(user) && !credfile.IsExampleValue(user)
	}
	return !credfile.IsExampleValue(value) && !credfile.IsExampleValue(password)
}

// addTerm notes a reason why the secret weighs less. Its confidence is low then.
func (s *secret) addTerm(points int, reason string) {
	s.terms = append(s.terms, finding.SeverityTerm{Points: points, Reason: reason})
	s.unsure = true
}

// judgeJSONWebToken adds what a token says of itself (RFC 7519).
func judgeJSONWebToken(s *secret) {
	switch credfile.JudgeToken(s.value, time.Now()) {
	case credfile.TokenExample, credfile.TokenBroken:
		s.addTerm(example, "token of an example")
	case credfile.TokenPublic:
		s.addTerm(example, "token for browsers, which is public")
	case credfile.TokenExpired:
		s.addTerm(severity.Harmless, "expired token")
	}
}

// exampleReason says why a value that has the form of a credential is an example; it is empty
// for one that may be real.
func exampleReason(rule, value string) string {
	if credfile.IsPublished(value) {
		return "value that its vendor has published"
	}
	if isPlaceholder(value) {
		return "placeholder"
	}
	f := formOf[rule]
	if f == nil && rule != genericRule {
		return ""
	}
	if credfile.IsRun(value) || containsRun.MatchString(value) || f != nil && f.bits > 0 &&
		credfile.Entropy(value) < f.bits {
		return "value with a regularity that no issuer makes"
	}
	return ""
}

// containsRun matches runs of the alphabet that people type in examples.
var containsRun = lazyregexp.New(`(?i)xxxx|01234567|12345678|abcdefgh`)

// isExampleManifest reports whether what was found in a Secret of Kubernetes is an example: its
// last word, which is the value.
func isExampleManifest(value string) bool {
	words := strings.Fields(value)
	return len(words) == 0 || credfile.IsExampleValue(strings.Trim(words[len(words)-1], `"'`))
}

// placeholder matches words that documentation writes in the place of a token:
// sk_test_placeholder, ghp_your_token_here, glpat-xxxxxxxxxxxxxxxxxxxx. By chance, a word of seven
// letters is in one of 10^9 random tokens of 40 characters.
var placeholder = lazyregexp.New(`(?i)placeholder|change[_-]?me|your[_-]|redacted|example|insert[_-]|x{8}|\.{3}|\*{4}`)

// isPlaceholder reports whether a value that has the form of a credential is an example. Of a URL,
// the path is judged: example.com is a host.
func isPlaceholder(value string) bool {
	if _, address, ok := strings.Cut(value, "://"); ok {
		_, value, _ = strings.Cut(address, "/")
	}
	return placeholder.MatchString(value)
}

// keyBody matches a line of a key: code that looks for keys names their first
// and last line too. Lines may be broken as source code breaks them.
var keyBody = lazyregexp.New(`[A-Za-z0-9+/]{30}`)

// placeTerms returns what the path of a secret adds to its severity, beside the term that the
// driver adds for every finding: most secrets of tests and manuals were made for them.
func placeTerms(path string, rule *finding.Rule) []finding.SeverityTerm {
	context := severity.ContextOf(path)
	key := rule.CWE[0] == "CWE-321" || strings.HasPrefix(rule.ID, prefix+"gcp-service-account") ||
		strings.HasPrefix(rule.ID, prefix+"gcp-application-default")
	switch {
	case context.Harmless() && context != severity.Example && key:
		return []finding.SeverityTerm{{Points: severity.Harmless, Reason: "key without a deployment"}}
	case context.Harmless():
		return []finding.SeverityTerm{{Points: severity.Lowered, Reason: "made-up secrets are usual there"}}
	case isTemplate(path) && key:
		return []finding.SeverityTerm{{Points: 2 * severity.Harmless, Reason: "key of a template or stand-in"}}
	case isTemplate(path):
		return []finding.SeverityTerm{{Points: severity.Harmless, Reason: "template or stand-in"}}
	case isBuildSetup(path):
		return []finding.SeverityTerm{{Points: severity.Lowered, Reason: "set-up of a build"}}
	case rule.ID == prefix+"gcp-api-key" && isClientFile(strings.ToLower(path)):
		return []finding.SeverityTerm{{Points: severity.Harmless, Reason: "key that every browser or app gets"}}
	}
	return nil
}

// isTemplate reports whether the file is copied and filled in, or stands in for something in
// tests: .env.template, config.template.yml, pkg/fake/client.go.
func isTemplate(path string) bool {
	dir, base, _ := cutLast(strings.ToLower(path), "/")
	if strings.HasSuffix(dir, "/ci") && strings.HasSuffix(base, "-values.yaml") {
		return true // values with which a chart is tested
	}
	for _, mark := range []string{".template.", "env.template", "-template.", "_template.", ".sample", ".tpl"} {
		if strings.Contains(base, mark) {
			return true
		}
	}
	for _, folder := range strings.Split(dir, "/") {
		switch folder {
		case "fake", "fakes", "stub", "stubs", "dummy":
			return true
		}
	}
	return false
}

// isBuildSetup reports whether the file is in a folder with the set-up of a build server.
func isBuildSetup(path string) bool {
	lower := "/" + strings.ToLower(path)
	return strings.Contains(lower, "/.ci/") || strings.Contains(lower, "/ci/")
}

// cutLast cuts the text around the last separator. Without one, all is behind it.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(separator):], true
}

// clientFiles are ends of names of files that run in browsers or apps, or configure them. Google
// restricts the keys in them by referrer and by app, and says that they are no secret.
var clientFiles = []string{"google-services.json", "googleservice-info.plist", "androidmanifest.xml", "strings.xml",
	".html", ".htm", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".vue", ".svelte", ".dart", "firebase_options.dart"}

// isClientFile reports whether the file runs in browsers or apps. The path is in lower case.
func isClientFile(path string) bool {
	for _, end := range clientFiles {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}
