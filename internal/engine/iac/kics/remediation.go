package kics

import (
	"regexp"
	"strings"
)

// This file writes the remediation of a query, which the query library has no text for.

// byCategoryAdvice is what the weaknesses of a category have in common as remediation.
var byCategoryAdvice = map[string]string{
	"Access Control": "Grant only the actions, resources and principals that are needed (least privilege), and require " +
		"authentication.",
	"Availability": "Set limits and redundancy, so that the failure of one component or the load of one client does not " +
		"make the service unavailable.",
	"Backup":        "Enable backups, versioning or deletion protection, and test that data can be restored.",
	"Build Process": "Pin versions and digests, use trusted sources only, and run the build with least privilege.",
	"Encryption": "Enable encryption with current algorithms and TLS versions, and use a customer-managed key where the " +
		"service supports it.",
	"Insecure Configurations": "Replace the insecure setting, and review the other settings of the resource.",
	"Insecure Defaults":       "Set the attribute explicitly, because its default is insecure.",
	"Networking and Firewall": "Restrict addresses, ports and protocols to the clients that need access.",
	"Observability": "Enable logging, auditing or monitoring, and send the records to a destination that the operators " +
		"of the resource cannot modify.",
	"Resource Management": "Set requests and limits of CPU, memory and other resources.",
	"Secret Management": "Remove the secret from the code, rotate it, and read it from a secret store at run time. The " +
		"history of the repository keeps the old value.",
	"Supply-Chain": "Pin versions and digests, and use trusted sources only.",
}

// sentenceEnd is the end of a sentence that another one follows; a dot in "0.0.0.0" or
// "e.g. SSH" is none.
var sentenceEnd = regexp.MustCompile(`[^.\s][^.\s][.!?]\s+[A-Z]`)

// demands are the words of a sentence that says how the resource has to be.
var demands = regexp.MustCompile(`(?i)\b(should|must)\b|^(ensure|make sure|avoid|it is recommended|it's recommended)\b`)

// remediationText returns what to do about the findings of a query: what its description
// demands, the remediation of its category, and where the exact attribute is found.
func remediationText(a queryInfo) string {
	var out []string
	for _, text := range []string{requirement(a.Description), byCategoryAdvice[a.Category]} {
		if text != "" {
			out = append(out, text)
		}
	}
	out = append(out, "The finding names the attribute with its expected and actual value. Change it in code, not in the "+
		"running system: the next deployment would revert the change.")
	if a.URL != "" {
		out = append(out, "See the [documentation]("+a.URL+") of the attribute.")
	}
	return strings.Join(out, "\n\n")
}

// requirement returns the first sentence of a description that says how the resource has to
// be, and nothing when the description only states the weakness.
func requirement(description string) string {
	rest := strings.TrimSpace(description)
	for rest != "" {
		sentence := rest
		if end := sentenceEnd.FindStringIndex(rest); end != nil {
			sentence = strings.TrimRight(rest[:end[1]-1], " \t\r\n")
		}
		rest = strings.TrimSpace(rest[len(sentence):])
		if demands.MatchString(sentence) {
			return endSentence(sentence)
		}
	}
	return ""
}
