// Package credential says what a credential for a registry of container images is:
// which parts each kind of registry needs, and which of them are secret.
package credential

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"merlon/internal/errs"
	"merlon/internal/registry/aws"
	"merlon/internal/tenant"
)

// A Kind is a kind of registry, by its name on the wire.
type Kind string

// The kinds that are supported.
const (
	DockerHub Kind = "dockerhub"
	GitLab    Kind = "gitlab"
	Harbor    Kind = "harbor"
	Quay      Kind = "quay"
	Google    Kind = "gcr"
	Azure     Kind = "acr"
	JFrog     Kind = "jfrog"
	Scaleway  Kind = "scaleway"
	Amazon    Kind = "ecr"
	GitHub    Kind = "github-container-registry"
)

// Kinds lists them, but GitHub, whose operations are of another form: an
// organization has one token for it, and no project is linked to that.
var Kinds = []Kind{GitLab, DockerHub, Google, Azure, Quay, Harbor, JFrog, Scaleway, Amazon}

// Fields are what is public of a credential; each kind has some of them.
type Fields struct {
	DockerhubUsername  string   `json:"dockerhubUsername,omitempty" maxLength:"255"`
	GitlabProjectID    int64    `json:"gitlabProjectId,omitempty" minimum:"0"`
	Username           string   `json:"username,omitempty" maxLength:"255"`
	RegistryURL        string   `json:"registryUrl,omitempty" maxLength:"500"`
	ProjectPath        string   `json:"projectPath,omitempty" maxLength:"500"`
	Scopes             []string `json:"scopes,omitempty" maxItems:"20"`
	ExpiresAt          string   `json:"expiresAt,omitempty" maxLength:"40"`
	GCPProjectID       string   `json:"gcpProjectId,omitempty" maxLength:"255"`
	RegistryHostname   string   `json:"registryHostname,omitempty" maxLength:"255"`
	ACRLoginServer     string   `json:"acrLoginServer,omitempty" maxLength:"255"`
	ServicePrincipalID string   `json:"servicePrincipalId,omitempty" maxLength:"255"`
	QuayNamespace      string   `json:"quayNamespace,omitempty" maxLength:"255"`
	RobotUsername      string   `json:"robotUsername,omitempty" maxLength:"255"`
	QuayHost           string   `json:"quayHost,omitempty" maxLength:"255"`
	HarborURL          string   `json:"harborUrl,omitempty" maxLength:"500"`
	HarborProject      string   `json:"harborProject,omitempty" maxLength:"255"`
	JfrogURL           string   `json:"jfrogUrl,omitempty" maxLength:"500"`
	RepositoryKey      string   `json:"repositoryKey,omitempty" maxLength:"255"`
	Region             string   `json:"region,omitempty" maxLength:"20"`
	NamespaceName      string   `json:"namespaceName,omitempty" maxLength:"255"`
	NamespaceID        string   `json:"namespaceId,omitempty" maxLength:"40" doc:"Told by the registry."`
	CredentialType     string   `json:"credentialType,omitempty" enum:"static_keys,iam_role" doc:"Default: static_keys."`
	AWSAccountID       string   `json:"awsAccountId,omitempty" maxLength:"12" doc:"Default: that of the keys or of the role."`
	AWSRegion          string   `json:"awsRegion,omitempty" maxLength:"30"`
	AWSAccessKeyID     string   `json:"awsAccessKeyId,omitempty" maxLength:"128"`
	RoleARN            string   `json:"roleArn,omitempty" maxLength:"600"`
	GithubUsername     string   `json:"githubUsername,omitempty" maxLength:"100" doc:"Told by the registry."`
	GithubOwner        string   `json:"githubOwner,omitempty" maxLength:"100" doc:"The user or organization whose images are meant."`
}

// Secrets are what is secret of a credential; each kind has one of them.
type Secrets struct {
	AccessToken              string `json:"accessToken,omitempty" maxLength:"10000"`
	DeployToken              string `json:"deployToken,omitempty" maxLength:"10000"`
	ServiceAccountKey        string `json:"serviceAccountKey,omitempty" maxLength:"20000"`
	ServicePrincipalPassword string `json:"servicePrincipalPassword,omitempty" maxLength:"10000"`
	RobotToken               string `json:"robotToken,omitempty" maxLength:"10000"`
	Password                 string `json:"password,omitempty" maxLength:"10000"`
	SecretKey                string `json:"secretKey,omitempty" maxLength:"10000"`
	AWSSecretAccessKey       string `json:"awsSecretAccessKey,omitempty" maxLength:"10000"`
	ExternalID               string `json:"externalId,omitempty" maxLength:"1224" doc:"What prepare-iam-role has answered."`
}

// An Account is a credential of one kind, checked for its form.
type Account struct {
	Kind   Kind
	Title  string // what people call it; of Amazon's alone
	Fields Fields // with defaults filled in
	Secret string
}

// A part is what a kind needs: its name on the wire, and where it is.
type part struct {
	name string
	// of the fields or of the secrets; empty when it was not given
	value *string
}

// NewAccount puts a credential together. An Invalid error names what is missing.
func NewAccount(k Kind, f Fields, s Secrets) (*Account, error) {
	a := &Account{Kind: k, Fields: f}
	var need []part
	p := &a.Fields
	switch k {
	case DockerHub:
		need = []part{{"dockerhubUsername", &p.DockerhubUsername}, {"accessToken", &s.AccessToken}}
	case GitLab:
		if p.RegistryURL == "" {
			p.RegistryURL = "registry.gitlab.com"
		}
		if p.GitlabProjectID <= 0 {
			return nil, missingError("gitlabProjectId")
		}
		need = []part{{"registryUrl", &p.RegistryURL}, {"projectPath", &p.ProjectPath}, {"username", &p.Username},
			{"deployToken", &s.DeployToken}}
	case Google:
		need = []part{{"registryHostname", &p.RegistryHostname}, {"gcpProjectId", &p.GCPProjectID},
			{"serviceAccountKey", &s.ServiceAccountKey}}
	case Azure:
		need = []part{{"acrLoginServer", &p.ACRLoginServer}, {"servicePrincipalId", &p.ServicePrincipalID},
			{"servicePrincipalPassword", &s.ServicePrincipalPassword}}
	case Quay:
		if p.QuayHost == "" {
			p.QuayHost = "quay.io"
		}
		need = []part{{"quayHost", &p.QuayHost}, {"quayNamespace", &p.QuayNamespace},
			{"robotUsername", &p.RobotUsername}, {"robotToken", &s.RobotToken}}
	case Harbor:
		need = []part{{"harborUrl", &p.HarborURL}, {"harborProject", &p.HarborProject}, {"username", &p.Username},
			{"password", &s.Password}}
	case JFrog:
		need = []part{{"jfrogUrl", &p.JfrogURL}, {"repositoryKey", &p.RepositoryKey}, {"username", &p.Username},
			{"password", &s.Password}}
	case Scaleway:
		// Only checkAccount sets it: a caller could otherwise name a foreign namespace.
		p.NamespaceID = ""
		need = []part{{"region", &p.Region}, {"namespaceName", &p.NamespaceName}, {"secretKey", &s.SecretKey}}
	case Amazon:
		return finishAmazon(a, s)
	case GitHub:
		return finishGitHub(a, s)
	default:
		return nil, errs.E(errs.NotImplemented, "registries of the kind %q are not supported yet", k)
	}
	for _, n := range need {
		if strings.TrimSpace(*n.value) == "" {
			return nil, missingError(n.name)
		}
	}
	// The first part is the host or address, the last one the secret; of Docker Hub the first is a
	// user name.
	if _, err := Base(*need[0].value); k != DockerHub && err != nil {
		return nil, errs.E(errs.Invalid, "%s is not the address of a registry", need[0].name)
	}
	if k == Scaleway && !slices.Contains(scalewayRegions, p.Region) {
		return nil, errs.E(errs.Invalid, "region is none of %s", strings.Join(scalewayRegions, ", "))
	}
	a.Secret = *need[len(need)-1].value
	return a, nil
}

// scalewayRegions are those in which Scaleway has registries.
var scalewayRegions = []string{"fr-par", "nl-ams", "pl-waw"}

// missingError is the error for a part that the kind needs.
func missingError(name string) error {
	e := errs.E(errs.Invalid, "%s is missing", name)
	e.Details = []errs.Detail{{Location: "body." + name, Message: "is required"}}
	return e
}

// Name is what the registry and the account in it are called; two credentials of
// a kind with one name are the same one with different secrets.
func (a *Account) Name() string {
	f := &a.Fields
	switch a.Kind {
	case DockerHub:
		return f.DockerhubUsername
	case GitLab:
		return Host(f.RegistryURL) + "/" + f.ProjectPath
	case Google:
		return Host(f.RegistryHostname) + "/" + f.GCPProjectID
	case Azure:
		return Host(f.ACRLoginServer)
	case Quay:
		return Host(f.QuayHost) + "/" + f.QuayNamespace
	case JFrog:
		return Host(f.JfrogURL) + "/" + f.RepositoryKey
	case Scaleway:
		return a.Registry() + "/" + f.NamespaceName
	case Amazon:
		return a.Registry() + "/" + a.Title
	case GitHub:
		return a.Registry() // there is one
	}
	return Host(f.HarborURL) + "/" + f.HarborProject
}

// Registry is the host that images are pulled from; empty for a credential of Amazon
// whose account the registry has not told yet.
func (a *Account) Registry() string {
	f := &a.Fields
	if a.Kind == Amazon {
		region, err := aws.ParseRegion(f.AWSRegion)
		if err != nil || f.AWSAccountID == "" {
			return ""
		}
		return region.Registry(f.AWSAccountID)
	}
	return map[Kind]string{GitHub: "ghcr.io", DockerHub: "docker.io", GitLab: Host(f.RegistryURL),
		Google: Host(f.RegistryHostname), Azure: Host(f.ACRLoginServer),
		Quay: Host(f.QuayHost), Harbor: Host(f.HarborURL), JFrog: Host(f.JfrogURL), Scaleway: "rg." + f.Region +
			".scw.cloud"}[a.Kind]
}

// Base is the address of a host or an address: https unless it says otherwise,
// which the client allows only where an administrator does.
func Base(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	// Credentials in the address would end in logs; a query or fragment would change the requests
	// that are built from it.
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(u.Host, ":") {
		return nil, errs.E(errs.Invalid, "is not the address of a registry")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// Host is the host, with its port, of a host or an address; empty for what is none.
func Host(text string) string {
	u, err := Base(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// An ID is the identifier of a stored credential.
type ID string

// A Credential is an account as the database holds it.
type Credential struct {
	ID           ID
	Organization tenant.OrganizationID
	Kind         Kind
	Name         string // Account.Name
	Fields       Fields
	Sealed       []byte // the secret, sealed under Label
	Description  string
	CreatedAt    time.Time
	UpdatedAt    time.Time

	Projects []tenant.ProjectID // that may use it
}

// Open returns the account with its secret, which the box opens.
func (c *Credential) Open(box interface {
	Open(sealed []byte, label string) ([]byte, error)
}) (*Account, error) {
	secret, err := box.Open(c.Sealed, Label(c.Organization, c.Kind, c.Name))
	if err != nil {
		return nil, err
	}
	return c.Account(string(secret)), nil
}

// Account is the credential with its secret, opened.
func (c *Credential) Account(secret string) *Account {
	return &Account{Kind: c.Kind, Title: c.Title(), Fields: c.Fields, Secret: secret}
}

// Title is what people call it: all of its name but for Amazon's, which are called
// something within their registry.
func (c *Credential) Title() string {
	if c.Kind != Amazon {
		return c.Name
	}
	a := Account{Kind: c.Kind, Fields: c.Fields}
	return strings.TrimPrefix(c.Name, a.Registry()+"/")
}

// Label names the place where a credential's secret is sealed.
func Label(org tenant.OrganizationID, k Kind, name string) string {
	// The label binds the secret to its row: copied to another row, it cannot be opened.
	return "registry " + string(org) + " " + string(k) + " " + name
}
