package workload

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// This file has the rules for Compose files, after the specification
// (https://github.com/compose-spec/compose-spec/blob/main/spec.md). They are about what one
// service may do to the host and to others, not about the form of the file.

// compose lists the rules for Compose.
func compose() []check {
	return []check{
		{texts.Get("compose/mutable-image-with-host-access"), mutablePrivilegedImages},
		{texts.Get("compose/mutable-image"), mutableImages},
		{texts.Get("compose/database-connection-without-tls"), cleartextDatabases},
		{texts.Get("compose/anonymous-administrator"), anonymousAdministrators},
	}
}

// listServices returns the services of the file.
func (l *look) listServices() []spot {
	services := l.rootValue().valueAt("services")
	names, _ := services.value.(map[string]any)
	var out []spot
	for _, name := range sortedKeys(names) {
		s := services.valueAt(name)
		s.kind, s.name = "service", name
		out = append(out, s)
	}
	return out
}

// variable is an environment variable of a service.
type variable struct {
	name, value string
	at          spot
}

// listVariables returns the environment of a service, which is a mapping or a list of NAME=VALUE.
func (s spot) listVariables() []variable {
	environment := s.valueAt("environment")
	var out []variable
	if m, ok := environment.value.(map[string]any); ok {
		for _, name := range sortedKeys(m) {
			at := environment.valueAt(name)
			out = append(out, variable{name, scalarText(at.value), at})
		}
		return out
	}
	for _, at := range environment.listItems() {
		if name, value, ok := strings.Cut(at.textValue(), "="); ok {
			out = append(out, variable{name, value, at})
		}
	}
	return out
}

// scalarText returns a text or a truth value as it is written in YAML.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

// movingTag matches tags that publishers move to other images as a matter of course.
var movingTag = lazyregexp.New(`^(?i)(latest|main|master|edge|nightly|dev|develop|unstable|stable|rolling|canary|next)$`)

// mutablePrivilegedImages reports an image without a fixed version whose service controls the
// host: whoever can push the tag controls the host with the next pull.
func mutablePrivilegedImages(l *look) {
	for _, s := range l.listServices() {
		if access := hostAccess(s); access != "" && hasMutableImage(s) {
			image := s.valueAt("image")
			l.report(image, "the image "+image.textValue()+" has no fixed version, and the service "+access,
				"the image is pinned by a version or a digest")
		}
	}
}

// mutableImages reports the images of a file that have no fixed version, once, because one
// convention fixes them all. Those of services that control the host have a rule of their own.
func mutableImages(l *look) {
	var names []string
	var first spot
	for _, s := range l.listServices() {
		if !hasMutableImage(s) || hostAccess(s) != "" {
			continue
		}
		image := s.valueAt("image")
		if len(names) == 0 {
			first = image
		}
		names = append(names, image.textValue())
	}
	if len(names) > 0 {
		l.report(first, "without a fixed version: "+strings.Join(names, ", "),
			"images are pinned by a version or a digest")
	}
}

// hasMutableImage reports whether the service pulls an image whose tag moves. An image that the
// file itself builds is not pulled, and a variable may hold a version.
func hasMutableImage(s spot) bool {
	name := s.valueAt("image").textValue()
	if name == "" || strings.ContainsAny(name, "$@") || s.valueAt("build").isPresent() {
		return false
	}
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	return !tagged || movingTag.MatchString(tag)
}

// hostAccess says how the service controls the host, or returns "".
func hostAccess(s spot) string {
	if s.valueAt("privileged").isBool(true) {
		return "is privileged"
	}
	if s.valueAt("pid").textValue() == "host" {
		return "shares the processes of the host"
	}
	for _, v := range s.valueAt("volumes").listItems() {
		source, _, _ := strings.Cut(v.textValue(), ":")
		if m, ok := v.value.(map[string]any); ok {
			source, _ = m["source"].(string)
		}
		switch source {
		case "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock":
			return "has the socket of the container runtime"
		case "/", "/etc", "/root":
			return "has the folder " + source + " of the host"
		}
	}
	return ""
}

// withoutTLS matches the settings of database clients that turn TLS off: JDBC for MySQL, libpq, and
// SQL Server.
var withoutTLS = lazyregexp.New(`(?i)\b(useSSL=false|sslmode=disable|encrypt=(?:false|no|optional))\b`)

// databaseHost finds the host in a connection string.
var databaseHost = lazyregexp.New(`(?i)(?:://(?:[^@/\s]*@)?|\b(?:host|server|data source)=(?:tcp:)?)([\w.-]+)`)

// cleartextDatabases reports connection strings that turn TLS off for a database of another host. A
// database among the services of the file is reached over the network of this host alone.
func cleartextDatabases(l *look) {
	services, _ := l.rootValue().valueAt("services").value.(map[string]any)
	for _, s := range l.listServices() {
		for _, v := range s.listVariables() {
			setting := withoutTLS.FindString(v.value)
			host := databaseHost.FindStringSubmatch(v.value)
			if setting == "" || host == nil || services[host[1]] != nil || isLocalName(host[1]) {
				continue
			}
			l.report(v.at, v.name+" has "+setting+" for the host "+host[1], "the connection uses TLS")
		}
	}
}

// isLocalName reports whether the host is the machine itself.
func isLocalName(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "host.docker.internal"
}

// anonymousAdministrators reports a Grafana whose visitors are administrators without signing in.
func anonymousAdministrators(l *look) {
	for _, s := range l.listServices() {
		var enabled bool
		var role *variable
		for _, v := range s.listVariables() {
			switch v.name {
			case "GF_AUTH_ANONYMOUS_ENABLED":
				enabled = strings.EqualFold(v.value, "true")
			case "GF_AUTH_ANONYMOUS_ORG_ROLE":
				if strings.EqualFold(v.value, "Admin") {
					role = &v
				}
			}
		}
		if enabled && role != nil {
			l.report(role.at, "visitors have the role "+role.value+" without signing in",
				"visitors sign in, or have the role Viewer")
		}
	}
}
