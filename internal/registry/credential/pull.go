package credential

import (
	"strings"

	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
	"merlon/internal/registry/aws"
)

// This file says how the images of an account are pulled: what they are called in
// full, and who signs in for them. A kind of registry is one line in each table.

// users are what the kinds call the user who pulls.
var users = map[Kind]func(*Fields) string{
	DockerHub: func(f *Fields) string { return f.DockerhubUsername },
	GitLab:    func(f *Fields) string { return f.Username },
	// https://cloud.google.com/artifact-registry/docs/docker/authentication
	Google: func(*Fields) string { return "_json_key" },
	Azure:  func(f *Fields) string { return f.ServicePrincipalID },
	Quay:   func(f *Fields) string { return f.RobotUsername },
	Harbor: func(f *Fields) string { return f.Username },
	JFrog:  func(f *Fields) string { return f.Username },
	// https://www.scaleway.com/en/docs/container-registry/how-to/connect-docker-cli/
	Scaleway: func(*Fields) string { return "nologin" },
	Amazon:   func(*Fields) string { return aws.User },
	GitHub:   func(f *Fields) string { return f.GithubUsername },
}

// User is whom the account's secret is the password of; for Amazon, whom a password
// from there is.
func (a *Account) User() string {
	if of := users[a.Kind]; of != nil {
		return of(&a.Fields)
	}
	return ""
}

// A space is where an account's images are: what their names begin with, and
// whether all that it may pull is there.
type space struct {
	name string
	only bool // an image elsewhere is none of the account's
	in   bool // the list of images leaves the name out, also before a slash
}

// spaces are those of the kinds; the others have none.
var spaces = map[Kind]func(*Fields) space{
	DockerHub: func(f *Fields) space { return space{name: f.DockerhubUsername} },
	GitLab:    func(f *Fields) space { return space{name: strings.ToLower(f.ProjectPath), only: true} },
	Google:    func(f *Fields) space { return space{name: f.GCPProjectID, only: true} },
	Quay:      func(f *Fields) space { return space{name: f.QuayNamespace, only: true} },
	Harbor:    func(f *Fields) space { return space{name: f.HarborProject} },
	JFrog:     func(f *Fields) space { return space{name: f.RepositoryKey, in: true} },
	Scaleway:  func(f *Fields) space { return space{name: f.NamespaceName, only: true} },
	GitHub:    func(f *Fields) space { return space{name: strings.ToLower(f.GithubOwner), only: true} },
}

// hubHosts are the names of Docker Hub's registry.
var hubHosts = []string{"docker.io", "index.docker.io", "registry-1.docker.io"}

// Image returns the full reference of an image that is called as the registry's list
// of images does, with or without the registry's host. A name of one part is
// completed with where the account's images are. The error is Invalid for what is no
// name, and NotFound for an image elsewhere, where the account is for one place only.
func (a *Account) Image(name string) (string, error) {
	name = strings.TrimSpace(name)
	if !imageName.MatchString(name) {
		return "", errs.E(errs.Invalid, "imageName is not the name of an image: write repository:tag or "+
			"repository@sha256:…")
	}
	hosts, s := []string{a.Registry()}, space{}
	if a.Kind == DockerHub {
		hosts = hubHosts
	}
	if of := spaces[a.Kind]; of != nil {
		s = of(&a.Fields)
	}
	rest, whole := name, false
	for _, host := range hosts {
		if after, ok := strings.CutPrefix(name, host+"/"); ok {
			rest, whole = after, true
		}
	}
	inside := s.name == "" || strings.HasPrefix(rest, s.name+"/") || repositoryOf(rest) == s.name
	switch {
	case inside:
	case s.in && !whole, !strings.Contains(rest, "/"):
		rest = s.name + "/" + rest
	case s.only:
		return "", errs.E(errs.NotFound, "the credential is for no image of this name: those of %s/%s "+
			"are meant", a.Registry(), s.name)
	}
	return a.Registry() + "/" + rest, nil
}

// imageName matches the name of an image, with a tag or a digest or both
// (https://github.com/distribution/reference).
var imageName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,500}(@sha256:[0-9a-f]{64})?$`)

// Path is what a reference that Image has returned names within the registry, without
// its tag and digest.
func (a *Account) Path(reference string) string {
	return repositoryOf(strings.TrimPrefix(reference, a.Registry()+"/"))
}

// repositoryOf is a name without its tag and digest.
func repositoryOf(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	return name
}

// Scheme is how the registry is spoken to: "http" only when the credential says so.
func (a *Account) Scheme() string {
	f := &a.Fields
	for _, text := range []string{f.RegistryURL, f.RegistryHostname, f.ACRLoginServer, f.QuayHost, f.HarborURL,
		f.JfrogURL} {
		if u, err := Base(text); text != "" && err == nil {
			return u.Scheme
		}
	}
	return "https"
}

// SignsIn reports whether the registry may send its users to the host to sign in: its
// own, or one below the same registered name.
func (a *Account) SignsIn(host string) bool {
	if a.Kind == Amazon { // whose customers have hosts below its own name
		return strings.EqualFold(host, a.Registry())
	}
	return Related(host, hostnameOf(a.Registry())) || a.Kind == Scaleway && Related(host, "api.scaleway.com")
}

// hostnameOf is the host without its port.
func hostnameOf(host string) string {
	if u, err := Base(host); err == nil {
		return u.Hostname()
	}
	return host
}

// Related reports whether two hosts are one, or end in the same two labels:
// registry.gitlab.com signs in at gitlab.com.
func Related(a, b string) bool {
	tail := func(h string) string {
		labels := strings.Split(strings.ToLower(h), ".")
		return strings.Join(labels[max(0, len(labels)-2):], ".")
	}
	return strings.EqualFold(a, b) || tail(a) == tail(b) && !address.MatchString(a)
}

// address matches a host that is an address: of digits and points, or with a colon.
var address = lazyregexp.New(`^[0-9.:]+$|:`)
