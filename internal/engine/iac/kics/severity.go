package kics

import "merlon/internal/finding"

// This file corrects severities of queries where their authors' says more than what
// somebody gains by the flaw. The measure: high is what gives access or rights to
// those who have none, medium what takes away a protection that an attack would meet,
// low what is a matter of form, of order, or of hardening beyond the platform's own.

// A grading is a severity with how sure a finding of it is.
type grading struct {
	severity   finding.Severity
	confidence finding.Confidence
}

var (
	moderate = grading{finding.Medium, finding.HighConfidence}
	hygiene  = grading{finding.Low, finding.MediumConfidence}
	// doubted are questions that one file cannot answer: what is missing here may be
	// set for the whole account, or the platform has done away with it.
	doubted = grading{finding.Low, finding.LowConfidence}
)

// corrected lists the corrections by the rules' ids after "iac/".
var corrected = map[string]grading{
	// The form of an API's description.
	"openapi/general-pattern-undefined":                           hygiene,
	"openapi/general-array-without-maximum-number-items":          hygiene,
	"openapi/general-response-operations-body-schema-undefined":   hygiene,
	"openapi/3-0-media-type-object-without-schema":                hygiene,
	"openapi/3-0-header-object-without-schema":                    hygiene,
	"openapi/general-no-global-and-operation-security-defined":    moderate,
	"openapi/general-security-operations-empty-array":             moderate,
	"openapi/general-security-operations-empty-object-definition": moderate,

	// Where an object is put, and what others than attackers notice first.
	"kubernetes/using-unrecommended-namespace":         hygiene,
	"kubernetes/readiness-probe-is-not-configured":     hygiene,
	"kubernetes/containers-run-with-low-uid":           hygiene,
	"kubernetes/memory-requests-not-defined":           hygiene,
	"terraform/kubernetes-memory-requests-not-defined": hygiene,
	"compose/healthcheck-not-set":                      hygiene,
	"compose/security-opt-not-set":                     hygiene,
	"compose/pids-limit-not-set":                       hygiene,
	"compose/memory-not-limited":                       hygiene,

	// Not set is not yet a way up: no_new_privs is one of several bars.
	"kubernetes/privilege-escalation-allowed":           moderate,
	"terraform/kubernetes-privilege-escalation-allowed": moderate,
	// A volume of the pod's own hides a folder of the image, not of the host.
	"kubernetes/volume-mount-with-os-directory-write-permissions":           hygiene,
	"terraform/kubernetes-volume-mount-with-os-directory-write-permissions": hygiene,

	// How a build is written.
	"dockerfile/apt-get-install-pin-version-not-defined":        hygiene,
	"dockerfile/unpinned-package-version-in-apk-add":            hygiene,
	"dockerfile/yum-install-without-version":                    hygiene,
	"dockerfile/missing-version-specification-in-dnf-install":   hygiene,
	"dockerfile/not-using-json-in-cmd-and-entrypoint-arguments": hygiene,
	"dockerfile/add-instead-of-copy":                            hygiene,

	// Settings of the account, asked of each template.
	"terraform/aws-iam-access-analyzer-not-enabled":      doubted,
	"cloudformation/aws-iam-access-analyzer-not-enabled": doubted,
	"terraform/aws-shield-advanced-not-in-use":           doubted,
	"cloudformation/aws-shield-advanced-not-in-use":      doubted,
	"cloudformation/aws-vpc-without-network-firewall":    doubted,
	"terraform/aws-vpc-without-network-firewall":         doubted,
	// Taken out of Kubernetes 1.25 and of the provider.
	"terraform/gcp-pod-security-policy-disabled": doubted,
}

// severityOf returns the severity of a rule, the authors' unless it is corrected.
func severityOf(id, authors string) (finding.Severity, finding.Confidence) {
	if g, ok := corrected[id[len("iac/"):]]; ok {
		return g.severity, g.confidence
	}
	return parseSeverity(authors)
}
