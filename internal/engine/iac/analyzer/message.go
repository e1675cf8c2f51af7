package analyzer

import (
	"fmt"
	"regexp"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/sam"
)

// This file says in plain words what a rule found: the attribute of the resource and its value. The
// queries write paths of their evaluator, with the name of the resource in each, and say everything
// twice, as it is and as it is expected.

// messageOf returns the message of a flaw: "aws_s3_bucket.logs: acl is public-read".
func messageOf(f kics.Flaw, address string) string {
	message := f.Rule.Name
	if f.Actual != "" {
		message = plainText(f, f.Actual)
	}
	expected := ""
	if f.Expected != "" {
		expected = withoutRepetition(message, plainText(f, f.Expected))
		if certain.MatchString(expected) {
			expected = ""
		}
	}
	message += valueText(f)
	if address != "" {
		message = address + ": " + message
	}
	if expected != "" {
		message += ". Expected: " + expected
	}
	if f.Document.Variant != "" {
		message += " (with " + f.Document.Variant + ")"
	}
	return message
}

var (
	// containerAttribute and containerPath are how queries name a container of a pod.
	containerAttribute = regexp.MustCompile(`(?:spec\.(?:template\.spec\.|job_?[tT]emplate\.spec\.template\.spec\.)?)?` +
		`(?:initContainers|containers)\.(?:name=)?([A-Za-z0-9-]+)\.`)
	containerPath = regexp.MustCompile(`(?:spec\.(?:template\.spec\.|job_?[tT]emplate\.spec\.template\.spec\.)?)?` +
		`(?:initContainers|containers)\.name=([A-Za-z0-9-]+)`)
	podPath = regexp.MustCompile(`\bspec\.(?:template\.spec|job_?[tT]emplate\.spec\.template\.spec)\.`)
	// lineHint is a number that a query puts before a text to tell its cases apart.
	lineHint = regexp.MustCompile(`^\d metadata\.`)
	// templatePath is how queries name a resource of CloudFormation.
	templatePath = regexp.MustCompile(`\bResources\.[A-Za-z0-9]+\.(?:Properties\.)?`)
	// undefined is how queries say that an attribute is not there.
	undefined = regexp.MustCompile(`\bis (?:undefined or null|undefined|null|not defined)\b|\bis missing$`)
	// quotedStart is an attribute in quotes at the beginning: 'acl' is…
	quotedStart = regexp.MustCompile(`^(?:Attribute )?'([A-Za-z0-9_.\[\]/-]+)'? `)
	// strayQuote ends a quotation that has no beginning, in texts with an odd number of quotes.
	strayQuote = regexp.MustCompile(`(\w)'( |$)`)
	// modal are the words that an expectation does not need behind "Expected:".
	modal = regexp.MustCompile(`^(?:(?:should|shouldn't|must|needs?|is|are|be|to|have|has) )+`)
	// certain matches expectations that only deny what was found.
	certain = regexp.MustCompile(`(?i)^(?:\S+(?: and \S+)? (?:should be |is |are |should )?)?` +
		`(?:defined|set|specified|exist|present|not undefined|not null|configured)(?: (?:and|or) (?:not null|set|valid))?$`)
)

// plainText makes a sentence about an attribute of a query's text.
func plainText(f kics.Flaw, text string) string {
	text = sam.Written(cleanText(text))
	switch f.Document.Platform {
	case document.Kubernetes, document.Knative, document.Crossplane:
		if lineHint.MatchString(text) {
			text = text[2:]
		}
		if f.Name != "" {
			text = strings.ReplaceAll(text, "metadata.name="+f.Name+".", "")
			text = strings.ReplaceAll(text, "metadata.name="+f.Name, "it")
		}
		text = containerAttribute.ReplaceAllString(text, "container $1: ")
		text = containerPath.ReplaceAllString(text, "container $1")
		text = podPath.ReplaceAllString(text, "")
	case document.Terraform:
		if f.Kind != "" {
			text = regexp.MustCompile(`\b`+regexp.QuoteMeta(f.Kind)+`\[[^\]]*\]\.`).ReplaceAllString(text, "")
		}
	case document.CloudFormation:
		text = templatePath.ReplaceAllString(text, "")
	}
	text = quotedStart.ReplaceAllString(text, "$1 ")
	if strings.Count(text, "'")%2 == 1 {
		if at := strayQuote.FindStringSubmatchIndex(text); at != nil {
			text = text[:at[3]] + text[at[4]:]
		}
	}
	return undefined.ReplaceAllString(text, "is not set")
}

// withoutRepetition leaves out the words with which the expectation begins as the message does: what
// is expected of the attribute is left. An expectation that shares no beginning stays whole.
func withoutRepetition(message, expected string) string {
	said, words := strings.Fields(message), strings.Fields(expected)
	same := 0
	for same < len(said) && same < len(words) && said[same] == words[same] {
		same++
	}
	if same == 0 || same == len(words) {
		return expected
	}
	rest := strings.Join(words[same:], " ")
	return modal.ReplaceAllString(rest, "")
}

// maxValueText bounds the values that messages show.
const maxValueText = 60

// secretField matches names of attributes whose values may be secrets.
var secretField = regexp.MustCompile(`(?i)pass|secret|token|key|credential|auth|connection|private|env|data|content`)

// valueText returns the value of the attribute, unless the text of the query has it, or it may be a
// secret.
func valueText(f kics.Flaw) string {
	if len(f.Steps) == 0 || undefined.MatchString(f.Actual) {
		return ""
	}
	for _, step := range f.Steps {
		if secretField.MatchString(step) {
			return ""
		}
	}
	last := f.Steps[len(f.Steps)-1]
	var shown string
	switch v := followSteps(f.Document.Root, f.Steps).(type) {
	case string:
		shown = fmt.Sprintf("%q", v)
		if v == "" || strings.Contains(f.Actual, v) {
			return ""
		}
	case bool, int, int64, float64:
		shown = fmt.Sprint(v)
		if containsWord(f.Actual, shown) {
			return ""
		}
	default:
		return ""
	}
	if len(shown) > maxValueText {
		return ""
	}
	return " (" + last + " = " + shown + ")"
}
