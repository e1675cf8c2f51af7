package workload

import (
	"fmt"
	"path"
	"strings"

	"merlon/internal/lazyregexp"
)

// This file holds the rules for Kubernetes, after the Pod Security Standards
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/) and the good
// practices for roles (https://kubernetes.io/docs/concepts/security/rbac-good-practices/).

// kubernetes returns the rules for objects of Kubernetes, one row each: the texts of the rule and
// the function that evaluates it. They add to the library what its queries do not check.
func kubernetes() []check {
	return []check{
		{texts.Get("kubernetes/pod-security-restricted"), restrictedProfile},
		{texts.Get("kubernetes/container-runs-with-low-gid"), lowGroup},
		{texts.Get("kubernetes/container-binds-privileged-port"), privilegedPort},
		{texts.Get("kubernetes/unmasked-proc-mount"), procMount},
		{texts.Get("kubernetes/windows-host-process"), hostProcess},
		{texts.Get("kubernetes/unsafe-sysctl"), unsafeSysctl},
		{texts.Get("kubernetes/anonymous-role-binding"), anonymousBinding},
		{texts.Get("kubernetes/service-with-external-ips"), externalIPs},
		{texts.Get("kubernetes/config-map-holds-secret"), secretInConfigMap},
		{texts.Get("kubernetes/secret-in-environment"), secretInEnvironment},
		{texts.Get("kubernetes/role-allows-taking-over"), escalation},
		{texts.Get("kubernetes/network-policy-allows-all"), openPolicy},
		{texts.Get("kubernetes/ingress-without-tls"), plainIngress},
		{texts.Get("kubernetes/ingress-with-snippet"), snippets},
		{texts.Get("kubernetes/namespace-without-pod-security"), openNamespace},
	}
}

// rootObject returns the object with its kind and name.
func (l *look) rootObject() spot {
	r := l.rootValue()
	r.kind = r.valueAt("kind").textValue()
	r.name = r.valueAt("metadata", "name").textValue()
	return r
}

// podSpec returns the specification of the pods that the object makes.
func (l *look) podSpec() (spot, bool) {
	o := l.rootObject()
	switch o.kind {
	case "Pod":
		o = o.valueAt("spec")
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
		o = o.valueAt("spec", "template", "spec")
	case "CronJob":
		o = o.valueAt("spec", "jobTemplate", "spec", "template", "spec")
	default:
		// Workloads of other controllers have the same template: Rollout, CloneSet, PodTemplate.
		return o.podTemplate()
	}
	_, ok := o.value.(map[string]any)
	return o, ok
}

// podTemplate returns the specification of the pods that an object of another API group makes.
func (s spot) podTemplate() (spot, bool) {
	for _, way := range [][]string{
		{"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}, {"template", "spec"},
	} {
		at := s.valueAt(way...)
		if _, ok := at.valueAt("containers").value.([]any); ok {
			return at, true
		}
	}
	return s, false
}

// listContainers returns all containers of the pod.
func (l *look) listContainers() (pod spot, all []spot) {
	pod, ok := l.podSpec()
	if !ok {
		return pod, nil
	}
	// All three kinds run on the node with rights of their own.
	for _, field := range []string{"initContainers", "containers", "ephemeralContainers"} {
		all = append(all, pod.valueAt(field).listItems()...)
	}
	return pod, all
}

// containerName names a container in messages.
func (s spot) containerName() string {
	if name := s.valueAt("name").textValue(); name != "" {
		return "container " + name
	}
	return "a container"
}

// lowGroup reports containers whose primary group may be one of the host: without runAsGroup it is
// that of the image, mostly root (0). Groups above 10,000 do not exist on common hosts, so a
// process that escapes gains no file access by its group.
func lowGroup(l *look) {
	pod, containers := l.listContainers()
	for _, c := range containers {
		group := c.valueAt("securityContext", "runAsGroup")
		// The setting of the container overrides that of the pod.
		if !group.isPresent() {
			group = pod.valueAt("securityContext", "runAsGroup")
		}
		// A value that is no number comes from a template and is not judged.
		if n, ok := group.intValue(); ok && n > 10_000 || group.isPresent() && !ok {
			continue
		}
		at := group
		if !group.isPresent() {
			at = c
		}
		l.report(at, c.containerName()+" has no group id above 10000", "securityContext.runAsGroup is above 10000")
	}
}

// privilegedPort reports ports below 1024. To bind one, a process needs root or the capability
// NET_BIND_SERVICE; behind a Service the port of the container does not matter to clients.
func privilegedPort(l *look) {
	_, containers := l.listContainers()
	for _, c := range containers {
		for _, p := range c.valueAt("ports").listItems() {
			port := p.valueAt("containerPort")
			if n, ok := port.intValue(); ok && n > 0 && n < 1024 {
				l.report(port, fmt.Sprintf("%s listens on port %d", c.containerName(), n), "the port is above 1023")
			}
		}
	}
}

// procMount reports containers with an unmasked /proc. The runtime hides /proc/kcore, /proc/keys,
// /proc/sysrq-trigger and others, through which a container can read or change the kernel of the
// node.
func procMount(l *look) {
	_, containers := l.listContainers()
	for _, c := range containers {
		if m := c.valueAt("securityContext", "procMount"); m.isPresent() && m.textValue() != "Default" {
			l.report(m, c.containerName()+" has procMount "+m.textValue(), "procMount is Default")
		}
	}
}

// hostProcess reports Windows containers that run as processes of the node, outside of any
// isolation. The setting of a container is checked as well as that of the pod.
func hostProcess(l *look) {
	pod, containers := l.listContainers()
	for _, s := range append(containers, pod) {
		if h := s.valueAt("securityContext", "windowsOptions", "hostProcess"); h.isBool(true) {
			l.report(h, "hostProcess is true", "it is left out")
		}
	}
}

// safeSysctls are kept apart between pods.
// See https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/.
var safeSysctls = map[string]bool{
	"kernel.shm_rmid_forced": true, "net.ipv4.ip_local_port_range": true, "net.ipv4.tcp_syncookies": true,
	"net.ipv4.ping_group_range": true, "net.ipv4.ip_unprivileged_port_start": true,
	"net.ipv4.ip_local_reserved_ports": true,
	"net.ipv4.tcp_keepalive_time":      true, "net.ipv4.tcp_fin_timeout": true, "net.ipv4.tcp_keepalive_intvl": true,
	"net.ipv4.tcp_keepalive_probes": true, "net.ipv4.tcp_rmem": true, "net.ipv4.tcp_wmem": true,
}

// unsafeSysctl reports kernel parameters outside of the safe set: they are not confined to the pod,
// so they can harm others on the node.
func unsafeSysctl(l *look) {
	pod, ok := l.podSpec()
	if !ok {
		return
	}
	for _, s := range pod.valueAt("securityContext", "sysctls").listItems() {
		if name := s.valueAt("name"); name.isPresent() && !safeSysctls[name.textValue()] {
			l.report(name, "the pod sets "+name.textValue(), "only safe parameters are set")
		}
	}
}

// anonymousBinding reports roles for users without authentication. system:authenticated is
// included, because on GKE every Google account is a member of it.
func anonymousBinding(l *look) {
	o := l.rootObject()
	if o.kind != "RoleBinding" && o.kind != "ClusterRoleBinding" {
		return
	}
	role := o.valueAt("roleRef", "name").textValue()
	// The cluster's own public roles are made for everybody.
	public := role == "system:public-info-viewer" || role == "system:discovery" || role == "system:basic-user"
	for _, s := range o.valueAt("subjects").listItems() {
		switch name := s.valueAt("name"); name.textValue() {
		case "system:anonymous", "system:unauthenticated", "system:authenticated":
			if !public {
				l.report(name, role+" is bound to "+name.textValue(), "the role is bound to those who need it")
			}
		}
	}
}

// externalIPs reports services with external addresses (CVE-2020-8554): whoever may create a
// service can claim any address and receive the traffic that pods send there.
func externalIPs(l *look) {
	o := l.rootObject()
	if ips := o.valueAt("spec", "externalIPs"); o.kind == "Service" && len(ips.listItems()) > 0 {
		l.report(ips, "the service has externalIPs", "externalIPs is left out")
	}
}

var (
	// secretName is the name of a variable whose value is a secret. What follows
	// such a word names something about the secret.
	secretName = lazyregexp.New(`(?i)(?:^|[_.-])(?:password|passwd|passphrase|secret|secret[_-]?key|access[_-]?key|secret[_-]?access[_-]?key|api[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|github[_-]?token|npm[_-]?token|token)$|^(?:pgpassword|mysql_pwd)$`)
	// notSecret are values that hold none: references, placeholders, paths, switches.
	notSecret = lazyregexp.New(`(?i)^$|[$<>{}%]|^(?:true|false|yes|no|none|null|x+|\*+|\d{1,3}|change.?me|change.?it|todo|tbd|example|placeholder|redacted|your.*|my.*|insert.*|dummy|fake|test|unset|undefined)$|^/|^\.{1,2}/|://|^file:|^secret(?:s)?[:/]`)
)

// isSecret reports whether a variable with the name and value holds a secret. A value
// that repeats the name stands for one that is put in later.
func isSecret(name, value string) bool {
	return secretName.MatchString(name) && len(value) >= 4 && !notSecret.MatchString(value) &&
		!strings.Contains(strings.ToLower(value), strings.ToLower(name))
}

// secretInConfigMap reports secrets in ConfigMaps. These are not encrypted at rest, and the role
// "view" can read them, which it cannot do with Secrets.
func secretInConfigMap(l *look) {
	o := l.rootObject()
	data, _ := o.valueAt("data").value.(map[string]any)
	if o.kind != "ConfigMap" {
		return
	}
	for key := range data {
		if v := o.valueAt("data", key); isSecret(key, v.textValue()) {
			l.report(v, "the key "+key+" holds a secret", "the value stands in a Secret")
		}
	}
}

// secretInEnvironment reports secrets in the environment of a container, written into the manifest:
// everybody who reads the repository or the pod specification has them.
func secretInEnvironment(l *look) {
	_, containers := l.listContainers()
	for _, c := range containers {
		for _, e := range c.valueAt("env").listItems() {
			if v := e.valueAt("value"); isSecret(e.valueAt("name").textValue(), v.textValue()) {
				l.report(v, e.valueAt("name").textValue()+" of "+c.containerName()+" is written out",
					"the value comes from a Secret")
			}
		}
	}
}

// escalation reports roles through which their holder can gain more rights than the role has. The
// rights are those that the Kubernetes documentation names as escalation risks.
func escalation(l *look) {
	o := l.rootObject()
	if o.kind != "Role" && o.kind != "ClusterRole" {
		return
	}
	for _, r := range o.valueAt("rules").listItems() {
		verbs, resources := r.valueAt("verbs"), r.valueAt("resources")
		// Limited to named objects, the right is a deliberate one.
		if r.valueAt("resourceNames").isPresent() {
			continue
		}
		writes := verbs.hasAny("create", "update", "patch", "*")
		what := ""
		switch {
		// The first case that matches names the right: a rule of the role has one finding.
		case verbs.hasAny("escalate", "bind") && resources.hasAny("roles", "clusterroles", "*"):
			what = "bind or escalate roles"
		case resources.hasAny("serviceaccounts/token") && writes:
			what = "make tokens of service accounts"
		case resources.hasAny("certificatesigningrequests/approval") && verbs.hasAny("update", "patch", "*"):
			what = "approve certificates"
		case resources.hasAny("mutatingwebhookconfigurations", "validatingwebhookconfigurations") && writes:
			what = "change admission webhooks"
		case resources.hasAny("nodes/proxy") && verbs.hasAny("get", "create", "*"):
			what = "run commands in all pods of a node"
		case resources.hasAny("pods/ephemeralcontainers") && writes:
			what = "run containers in pods of others"
		case resources.hasAny("rolebindings", "clusterrolebindings") && writes:
			what = "give roles to anybody"
		}
		if what != "" {
			l.report(resources, "the role can "+what, "the rule is left out or limited by resourceNames")
		}
	}
}

// openPolicy reports network policies that allow everything: an empty ingress rule ("- {}") matches
// all sources and ports, and so does the block 0.0.0.0/0 without exceptions.
func openPolicy(l *look) {
	o := l.rootObject()
	if o.kind != "NetworkPolicy" {
		return
	}
	for _, rule := range o.valueAt("spec", "ingress").listItems() {
		if m, ok := rule.value.(map[string]any); ok && len(m) == 0 {
			l.report(rule, "an empty rule allows all traffic", "the rule names who may send")
		}
		for _, from := range rule.valueAt("from").listItems() {
			block := from.valueAt("ipBlock")
			cidr := block.valueAt("cidr")
			if (cidr.textValue() == "0.0.0.0/0" || cidr.textValue() == "::/0") && !block.valueAt("except").isPresent() {
				l.report(cidr, "traffic from "+cidr.textValue()+" is allowed", "the rule names who may send")
			}
		}
	}
}

// plainIngress reports ingresses without TLS (CWE-319). The API group is compared, because other
// products use the kind Ingress for something else (config.openshift.io).
func plainIngress(l *look) {
	o := l.rootObject()
	version := o.valueAt("apiVersion").textValue()
	rules := o.valueAt("spec", "rules")
	if o.kind != "Ingress" || !strings.HasPrefix(version, "networking.k8s.io/") &&
		!strings.HasPrefix(version, "extensions/") {
		return
	}
	if len(rules.listItems()) > 0 && len(o.valueAt("spec", "tls").listItems()) == 0 {
		l.report(rules, "the ingress has no tls", "spec.tls names a certificate for each host")
	}
}

// snippets reports snippet annotations of ingress-nginx (CVE-2021-25742): their text becomes part
// of the configuration of the controller, so whoever edits an ingress can read all secrets that the
// controller can.
func snippets(l *look) {
	o := l.rootObject()
	notes, _ := o.valueAt("metadata", "annotations").value.(map[string]any)
	if o.kind != "Ingress" {
		return
	}
	for _, key := range sortedKeys(notes) {
		if strings.HasPrefix(key, "nginx.ingress.kubernetes.io/") && strings.HasSuffix(key, "-snippet") {
			l.report(o.valueAt("metadata", "annotations", key), "the ingress has a "+path.Base(key),
				"there is no snippet "+
					"annotation")
		}
	}
}

// openNamespace reports namespaces without an enforced Pod Security Standard. The levels "warn" and
// "audit" do not reject pods, and "privileged" allows every pod.
func openNamespace(l *look) {
	o := l.rootObject()
	if o.kind != "Namespace" {
		return
	}
	level := o.valueAt("metadata", "labels", "pod-security.kubernetes.io/enforce")
	if v := level.textValue(); v != "baseline" && v != "restricted" {
		l.report(level, "pods of any kind are admitted", "the label pod-security.kubernetes.io/enforce is baseline or "+
			"restricted")
	}
}
