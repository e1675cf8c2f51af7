package analyzer

import (
	"io/fs"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
	"merlon/internal/engine/iac/kustomize"
	"merlon/internal/scan"
)

// This file passes over what a query tells of one document, and what the rest of the
// tree, or the platform, shows to be otherwise.

// falsePositiveTest reports whether a flaw of the query is a false positive.
type falsePositiveTest func(t *treeFacts, f kics.Flaw) bool

// falsePositiveTests are run by the ids of rules after "iac/".
var falsePositiveTests = map[string]falsePositiveTest{
	"kubernetes/using-unrecommended-namespace":                    namespaceLater,
	"kubernetes/network-policy-is-not-targeting-any-pod":          targetElsewhere,
	"kubernetes/service-does-not-target-pod":                      targetElsewhere,
	"kubernetes/volume-mount-with-os-directory-write-permissions": isClusterVolume,
	"dockerfile/image-version-not-explicit":                       stageByVariable,
	"dockerfile/missing-user-instruction":                         runsAsOtherUser,
	"dockerfile/npm-install-without-pinned-version":               installsPinned,
	"dockerfile/secret-file-copied":                               hasNoToken,
	"ansible/aws-security-group-with-unrestricted-access-to-ssh":  privateNetworks,

	"openapi/3-0-global-server-uses-http": relativeServer,

	"cloudformation/aws-sam-serverless-function-without-dead-letter-queue": deadLetters,
	"cloudformation/aws-sam-serverless-api-endpoint-config-not-private":    isPrivateAPI,
	"cloudformation/aws-api-gateway-without-ssl-certificate":               isGenerated,
	"cloudformation/aws-api-gateway-without-configured-authorizer":         isGenerated,
	"cloudformation/aws-api-gateway-method-does-not-contains-an-api-key":   isGenerated,
	"cloudformation/aws-api-gateway-access-logging-disabled":               methodsOfMade,
}

// treeFacts is what is known of all documents.
type treeFacts struct {
	labels     []map[string]any // of pods and of what makes pods
	kustomized map[string]bool  // folders with a kustomization
	files      fs.FS
	paths      map[string]bool // of the tree
}

// dropFalsePositives leaves the flaws that no test shows to be false positives.
func dropFalsePositives(flaws []kics.Flaw, docs []*document.Document, tree fs.FS, files []scan.File) []kics.Flaw {
	var t *treeFacts // made when it is first needed
	return slices.DeleteFunc(flaws, func(f kics.Flaw) bool {
		is := falsePositiveTests[strings.TrimPrefix(f.Rule.ID, "iac/")]
		if is == nil || f.Document == nil {
			return false
		}
		if t == nil {
			t = newTreeFacts(docs, files)
			t.files = tree
		}
		return is(t, f)
	})
}

// newTreeFacts collects what the tests need of all documents.
func newTreeFacts(docs []*document.Document, files []scan.File) *treeFacts {
	t := &treeFacts{kustomized: map[string]bool{}, paths: map[string]bool{}}
	for _, f := range files {
		t.paths[f.Path] = true
		if kustomize.IsKustomization(f.Path) {
			t.kustomized[path.Dir(f.Path)] = true
		}
	}
	for _, d := range docs {
		if d.Platform != document.Kubernetes {
			continue
		}
		for _, way := range [][]string{
			{"metadata", "labels"}, {"spec", "template", "metadata", "labels"},
			{"spec", "jobTemplate", "spec", "template", "metadata", "labels"},
		} {
			if labels, ok := valueAt(d.Root, way...).(map[string]any); ok && (len(way) > 2 || d.Root["kind"] == "Pod") {
				t.labels = append(t.labels, labels)
			}
		}
	}
	return t
}

// valueAt follows keys.
func valueAt(v any, keys ...string) any {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// namespaceLater reports whether who installs the object names its namespace: of a
// chart, and of what a kustomization beside or above it builds. A chart is rendered for the namespace
// "default", because one is needed.
func namespaceLater(t *treeFacts, f kics.Flaw) bool {
	if f.Document.Format == document.Helm || f.Document.Format == document.Kustomize {
		return true
	}
	dir := path.Dir(f.Path)
	return strings.Contains(f.Actual, "undefined") && (t.kustomized[dir] || t.kustomized[path.Dir(dir)])
}

// targetElsewhere reports whether another folder has the pods that are selected: an
// overlay or a component holds the policy, the base the pods.
func targetElsewhere(t *treeFacts, f kics.Flaw) bool {
	if strings.Contains(f.Actual, "Pod port") {
		return false
	}
	selector, _ := valueAt(f.Document.Root, "spec", "selector").(map[string]any)
	if f.Kind == "NetworkPolicy" {
		selector, _ = valueAt(f.Document.Root, "spec", "podSelector", "matchLabels").(map[string]any)
	}
	return len(selector) > 0 && slices.ContainsFunc(t.labels, func(labels map[string]any) bool {
		for key, value := range selector {
			if labels[key] != value {
				return false
			}
		}
		return true
	})
}

// mounted finds the name of the volume in a query's key for a mount.
var mounted = regexp.MustCompile(`volumeMounts\.name=\{\{(.*?)\}\}`)

// isClusterVolume reports whether a volume that is mounted over a folder of the system is
// one of the cluster's storage, so that nothing of the node is within reach; or the folder
// only begins like one, as /bindings does.
func isClusterVolume(_ *treeFacts, f kics.Flaw) bool {
	name := mounted.FindStringSubmatch(f.Key)
	if name == nil {
		return false
	}
	spec, _ := specOf(f.Document.Root).(map[string]any)
	claimed := func(list any, found func(map[string]any) bool) bool {
		items, _ := list.([]any)
		return slices.ContainsFunc(items, func(one any) bool {
			m, ok := one.(map[string]any)
			return ok && found(m)
		})
	}
	templates := claimed(valueAt(f.Document.Root, "spec", "volumeClaimTemplates"), func(m map[string]any) bool {
		return valueAt(m, "metadata", "name") == name[1]
	})
	return templates || claimed(spec["volumes"], func(m map[string]any) bool {
		return m["name"] == name[1] && (m["persistentVolumeClaim"] != nil || m["projected"] != nil || m["csi"] != nil ||
			m["ephemeral"] != nil || m["downwardAPI"] != nil)
	})
}

// specOf returns the specification of the pods that an object makes.
func specOf(root map[string]any) any {
	switch root["kind"] {
	case "Pod":
		return root["spec"]
	case "CronJob":
		return valueAt(root, "spec", "jobTemplate", "spec", "template", "spec")
	}
	return valueAt(root, "spec", "template", "spec")
}

// inName matches what is put into a name when it is used: "$x", "${x}".
var inName = regexp.MustCompile(`\$\{?\w+[^}]*\}?`)

// stageByVariable reports whether an image whose name holds a variable may be a stage
// of the same file: "FROM base-${VARIANT}" beside "FROM x AS base-plain".
func stageByVariable(_ *treeFacts, f kics.Flaw) bool {
	words := strings.Fields(strings.Trim(strings.TrimPrefix(f.Actual, "FROM "), "'"))
	if len(words) == 0 || !strings.Contains(words[0], "$") || strings.HasPrefix(words[0], "$") {
		return false
	}
	parts := inName.Split(words[0], -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	like, err := regexp.Compile(`(?im)^\s*from\s+.*\sas\s+` + strings.Join(parts, `[\w.-]+`) + `\s*$`)
	return err == nil && like.Match(f.Document.Text)
}

// relativeServer reports whether the address of a server is one below that of the
// document: how it is reached is not said.
func relativeServer(_ *treeFacts, f kics.Flaw) bool {
	return strings.HasPrefix(f.Key, "servers.url./") || strings.HasPrefix(f.Key, "servers.url.{")
}

// propertiesOf returns those of the resource of CloudFormation that a flaw is about.
func propertiesOf(f kics.Flaw) any {
	return valueAt(f.Document.Root, "Resources", logicalName(f), "Properties")
}

// deadLetters reports whether a function has a queue under the name that the Serverless
// Application Model gives it.
func deadLetters(_ *treeFacts, f kics.Flaw) bool {
	return valueAt(propertiesOf(f), "DeadLetterQueue") != nil
}

// isPrivateAPI reports whether an API is private in the words of the model.
func isPrivateAPI(_ *treeFacts, f kics.Flaw) bool {
	endpoint := valueAt(propertiesOf(f), "EndpointConfiguration")
	return endpoint == "PRIVATE" || valueAt(endpoint, "Type") == "PRIVATE"
}

// isGenerated reports whether the resource is one that the model makes, and cannot have
// what the query requires: a certificate that functions would not check, an authorizer
// that is set at each method, a key for callers who are authenticated.
func isGenerated(_ *treeFacts, f kics.Flaw) bool {
	n, found := f.Document.Lines.Find("Resources", elementName(f))
	return found == 2 && n.Made
}

// methodsOfMade reports whether the query asks a stage that the model makes for settings
// of its methods, when the log is that of the stage.
func methodsOfMade(t *treeFacts, f kics.Flaw) bool {
	return (strings.Contains(f.Actual, "MethodSettings") || strings.Contains(f.Actual, "DefaultRouteSettings")) &&
		isGenerated(t, f)
}

// followSteps returns the value that fields and indexes lead to, or nil.
func followSteps(v any, steps []string) any {
	for _, step := range steps {
		list, ok := v.([]any)
		if !ok {
			v = valueAt(v, step)
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(list) {
			return nil
		}
		v = list[i]
	}
	return v
}

// privateNetworks reports whether a rule of a firewall names private networks only: the
// query knows a few networks of its own as such.
func privateNetworks(_ *treeFacts, f kics.Flaw) bool {
	v := followSteps(f.Document.Root, f.Steps)
	named := false
	for _, key := range []string{"cidr_ip", "cidr_ipv6"} {
		networks, ok := valueAt(v, key).([]any)
		if one := valueAt(v, key); !ok && one != nil {
			networks = []any{one}
		}
		for _, n := range networks {
			text, _ := n.(string)
			p, err := netip.ParsePrefix(text)
			if err != nil || !p.Masked().Addr().IsPrivate() || p.Bits() < 8 {
				return false
			}
			named = true
		}
	}
	return named
}
