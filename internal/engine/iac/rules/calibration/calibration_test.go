package calibration

import (
	"path"
	"strings"
	"testing"

	"merlon/internal/finding"
)

// TestApply gives rules the severity and profile of their class.
func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, id string
		given    finding.Severity
		want     finding.Severity
		profile  finding.Profile
	}{
		{"a control of the Pod Security Standards", "kubernetes/privilege-escalation-allowed", finding.Medium,
			finding.Low,
			finding.AllProfile},
		{"the finding that lists the controls", "kubernetes/pod-security-restricted", finding.Medium, finding.Medium,
			""},
		{"a danger in a pod", "kubernetes/container-is-privileged", finding.High, finding.High, ""},
		{"a socket of the runtime", "kubernetes/docker-daemon-socket-is-exposed-to-containers", finding.Medium,
			finding.High, ""},
		{"a naming convention", "terraform/general-name-is-not-snake-case", finding.Low, finding.Low,
			finding.AllProfile},
		{"a naming convention of another format", "grpc/enum-name-not-camel-case", finding.Low, finding.Low,
			finding.AllProfile},
		{"keys of the customer", "cloud/aws-customer-key-rds-cluster", finding.Medium, finding.Low, finding.AllProfile},
		{"a named rule precedes a pattern", "terraform/aws-cloudtrail-log-files-s3-bucket-is-publicly-accessible",
			finding.Critical, finding.High, ""},
		{"the form of an API", "openapi/general-pattern-undefined-v2", finding.Medium, finding.Low, finding.AllProfile},
		{"an API without authentication", "openapi/general-security-empty-array-v2", finding.High, finding.Low,
			finding.AllProfile},
		{"a low setting of a cloud", "cloud/azure-aks-sla", finding.Low, finding.Low, finding.AllProfile},
		{"a low setting of a workload", "kubernetes/invalid-image", finding.Low, finding.Low, ""},
		{"an open port", "cloud/aws-world-access-ssh", finding.High, finding.High, ""},
		{"a bucket that everybody can write", "cloud/aws-bucket-acl-public", finding.Critical, finding.Critical, ""},
	} {
		r := &finding.Rule{ID: "iac/" + c.id, Severity: c.given}
		Apply(r)
		if r.Severity != c.want || r.Profile != c.profile {
			t.Errorf("%s: %s, profile %q; want %s, %q", c.name, r.Severity, r.Profile, c.want, c.profile)
		}
	}
}

// TestClasses holds the form of the table: each class has a reason and changes something, each entry
// is a valid pattern of an id. A rule that is named twice belongs to the first class.
func TestClasses(t *testing.T) {
	for _, c := range classes {
		if c.reason == "" || len(c.rules) == 0 || c.checklist && c.impact != finding.Low {
			t.Errorf("class %+v", c)
		}
		for _, rule := range c.rules {
			if _, err := path.Match(rule, "x/y"); err != nil || strings.Count(rule, "/") != 1 {
				t.Errorf("%q of %q: %v", rule, c.reason, err)
			}
		}
	}
}
