package analyzer

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/rules/cloud"
	"merlon/internal/engine/iac/rules/workload"
	"merlon/internal/finding"
	"merlon/internal/scan"
)

func at(id string, line int, resource string) told {
	return told{&finding.Rule{ID: id}, finding.Finding{Location: finding.Location{Path: "x", StartLine: line}},
		resource}
}

func TestMerge(t *testing.T) {
	all := []told{
		at("iac/terraform/aws-unrestricted-security-group-ingress", 5, "g"),
		at("iac/terraform/aws-security-group-with-unrestricted-access-to-ssh", 5, "g"),
		at("iac/terraform/aws-http-port-open", 5, "g"),
		at("iac/terraform/aws-http-port-open", 9, "g"), // another rule of the group
		at("iac/arm/website-not-forcing-https", 7, "app"),
		at("iac/cloud/arm-https-only-web-sites", 3, "app"),   // the same, at another line
		at("iac/cloud/arm-https-only-web-sites", 3, "other"), // of another resource
		at("iac/crossplane/aws-efs-not-encrypted", 20, "fs"),
		at("iac/crossplane/aws-efs-without-kms", 21, "fs"), // two arguments
		at("iac/terraform/unheard-of", 5, "g"),
	}
	var got []string
	for _, m := range merge(all) {
		got = append(got, fmt.Sprintf("%s %d %s", path.Base(m.rule.ID), m.finding.Location.StartLine,
			strings.Join(m.finding.EquivalentRules, " ")))
	}
	want := []string{
		"aws-security-group-with-unrestricted-access-to-ssh 5 iac/terraform/aws-http-port-open " +
			"iac/terraform/aws-unrestricted-security-group-ingress",
		"aws-http-port-open 9 ",
		"website-not-forcing-https 7 iac/cloud/arm-https-only-web-sites",
		"arm-https-only-web-sites 3 ",
		"aws-efs-not-encrypted 20 ",
		"aws-efs-without-kms 21 ",
		"unheard-of 5 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestGather(t *testing.T) {
	var all []told
	for line := range many + 1 {
		all = append(all, at("iac/openapi/general-pattern-undefined", 100-line, ""),
			at("iac/kubernetes/container-is-privileged", line+1, ""))
	}
	all = append(all, at("iac/openapi/general-response-code-missing", 4, ""))
	got := gather(all)
	if len(got) != many+3 {
		t.Fatalf("%d findings, want one of the repeated, %d and one more", len(got), many+1)
	}
	for _, g := range got {
		if g.rule.ID == "iac/openapi/general-pattern-undefined" && (g.finding.Location.StartLine != 100-many ||
			len(g.finding.Also) != many) {
			t.Errorf("told at line %d with %d other places, want the first with %d", g.finding.Location.StartLine,
				len(g.finding.Also), many)
		}
	}
}

// Each name of a subject is that of a rule, and stands in one subject only.
func TestSubjects(t *testing.T) {
	known := map[string]bool{}
	all, err := cloud.Rules()
	if err != nil {
		t.Fatal(err)
	}
	asked, err := kics.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(append(all, asked...), workload.Rules()...) {
		known[path.Base(r.ID)] = true
	}
	seen := map[string]bool{}
	for _, s := range subjects {
		for _, name := range s.rules {
			if !known[name] || seen[name] {
				t.Errorf("%s: a rule is %v, seen before is %v", name, known[name], seen[name])
			}
			seen[name] = true
		}
	}
	for name := range repetitive {
		if !known[path.Base(name)] {
			t.Errorf("repetitive %s is no rule", name)
		}
	}
	for name := range falsePositiveTests {
		if !known[path.Base(name)] {
			t.Errorf("doubted %s is no rule", name)
		}
	}
}

func TestPlausible(t *testing.T) {
	object := func(name, text string) *document.Document {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil || len(trees) != 1 {
			t.Fatalf("%s: %d trees, %v", name, len(trees), err)
		}
		return &document.Document{Platform: document.Kubernetes, Path: name, Root: trees[0].Root}
	}
	pods := object("base/web.yaml", "kind: Deployment\nspec: {template: {metadata: {labels: {app: web, tier: a}}}}\n")
	policy := object("overlay/net.yaml", "kind: NetworkPolicy\nspec: {podSelector: {matchLabels: {app: web}}}\n")
	other := object("overlay/net.yaml", "kind: NetworkPolicy\nspec: {podSelector: {matchLabels: {app: db}}}\n")
	stateful := object("s.yaml", "kind: StatefulSet\nspec:\n  volumeClaimTemplates: [{metadata: {name: data}}]\n  "+
		"template: {spec: {volumes: [{name: sock, hostPath: {path: /run}}, {name: claim, persistentVolumeClaim: "+
		"{}}]}}\n")
	chart := &document.Document{Platform: document.Kubernetes, Format: document.Helm, Path: "chart/templates/a.yaml"}
	docker := &document.Document{Platform: document.Dockerfile, Path: "Dockerfile", Text: []byte("FROM debian:12 AS " +
		"base-slim\nFROM base-${KIND}\nFROM image-${KIND}\n")}
	flaw := func(id string, d *document.Document, actual, key string) kics.Flaw {
		kind, _ := d.Root["kind"].(string)
		return kics.Flaw{Rule: &finding.Rule{ID: "iac/" + id}, Document: d, Path: d.Path, Actual: actual, Key: key,
			Kind: kind}
	}
	const mount = "kubernetes/volume-mount-with-os-directory-write-permissions"
	for _, c := range []struct {
		name string
		flaw kics.Flaw
		left bool
	}{
		{"a policy for pods of another folder", flaw("kubernetes/network-policy-is-not-targeting-any-pod", policy, "",
			""), false},
		{"a policy for no pods", flaw("kubernetes/network-policy-is-not-targeting-any-pod", other, "", ""), true},
		{"no namespace in a chart", flaw("kubernetes/using-unrecommended-namespace", chart, "metadata.namespace is "+
			"undefined or null", ""), false},
		{"the default namespace in a chart", flaw("kubernetes/using-unrecommended-namespace", chart,
			"'metadata.namespace' is set to default", ""), false},
		{"the default namespace in a manifest", flaw("kubernetes/using-unrecommended-namespace", other,
			"'metadata.namespace' is set to default", ""), true},
		{"no namespace beside a kustomization", flaw("kubernetes/using-unrecommended-namespace", pods,
			"metadata.namespace is undefined or null", ""), false},
		{"no namespace anywhere", flaw("kubernetes/using-unrecommended-namespace", other, "metadata.namespace is "+
			"undefined or null", ""), true},
		{"a claimed volume", flaw(mount, stateful, "", "x.volumeMounts.name={{data}}"), false},
		{"a claim", flaw(mount, stateful, "", "x.volumeMounts.name={{claim}}"), false},
		{"a folder of the node", flaw(mount, stateful, "", "x.volumeMounts.name={{sock}}"), true},
		{"a stage", flaw("dockerfile/image-version-not-explicit", docker, "FROM base-${KIND}'", ""), false},
		{"an image", flaw("dockerfile/image-version-not-explicit", docker, "FROM image-${KIND}'", ""), true},
		{"a relative server", flaw("openapi/3-0-global-server-uses-http", docker, "", "servers.url./api"), false},
		{"a server without TLS", flaw("openapi/3-0-global-server-uses-http", docker, "", "servers.url.http://x"), true},
		{"another rule", flaw("kubernetes/x", other, "", ""), true},
	} {
		got := dropFalsePositives([]kics.Flaw{c.flaw}, []*document.Document{pods, policy, other, stateful}, nil,
			[]scan.File{{Path: "base/kustomization.yaml"}})
		if len(got) == 1 != c.left {
			t.Errorf("%s: %d flaws are left", c.name, len(got))
		}
	}
}
