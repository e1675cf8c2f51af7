package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"merlon/internal/errs"
)

// Store says where a deployment keeps its data. Tags are read by the command
// line: every field is an option, a setting of the file, and a variable
// MERLON_….
type Store struct {
	Data            string `default:"data" type:"path" placeholder:"DIR" group:"Storage" help:"Data folder: embedded database, uploads, keys and unsent mail."`
	DatabaseURL     string `placeholder:"URL" group:"Storage" secret:"" help:"PostgreSQL connection URL, postgres://user:password@host:port/name. Default: an embedded SQLite database in the data folder."`
	DatabaseURLFile string `type:"path" placeholder:"FILE" group:"Storage" help:"File that contains the database URL."`
	// DatabasePlaintext stands in for sslmode in the URL, whose default falls back to none.
	DatabasePlaintext bool   `group:"Storage" help:"Allow a database URL without enforced TLS to another host (sslmode disable, allow or prefer; prefer is the default of URLs). Without this setting such a URL is refused."`
	BlobURL           string `placeholder:"URL" group:"Storage" secret:"" help:"Upload storage: file:///folder or s3://bucket?region=…. Default: a folder in the data folder, or the storage that is recorded in the database."`
	MasterKeyFile     string `type:"path" placeholder:"FILE" group:"Storage" help:"Master key that encrypts secrets in the database, 32 bytes as base64. It must be the same on all servers of a deployment, and on workers that scan private images or targets with credentials. Default: master.key in the data folder, created on first start."`
	Region            string `default:"local" placeholder:"NAME" group:"Region" help:"Name of the region of this deployment."`
}

// Log says what is written to the log, and where.
type Log struct {
	LogLevel  string `default:"info" enum:"debug,info,warn,error" group:"Log" help:"Minimum log level: debug, info, warn or error."`
	LogFormat string `default:"text" enum:"text,json" group:"Log" help:"Log format: text or json."`
	LogFile   string `type:"path" placeholder:"FILE" group:"Log" help:"File to append the log to. Default: standard error; merlon demo writes to merlon.log in the data folder."`
}

// Work says how scans are run.
type Work struct {
	Workers      int           `default:"2" placeholder:"N" group:"Scans" help:"Number of scans that this process runs in parallel; 0 leaves them to other workers."`
	ScanTimeout  time.Duration `default:"1h" group:"Scans" help:"Timeout of a scan."`
	LiveTimeout  time.Duration `default:"4h" group:"Scans" help:"Timeout of a scan of a running application. The time starts again when the scan is resumed after a pause or the loss of its worker."`
	ScanMemory   int64         `default:"4096" placeholder:"MIB" group:"Scans" help:"Memory limit of a scan, in MiB."`
	ExtractBytes int64         `default:"10240" placeholder:"MIB" group:"Scans" help:"Maximum total size of the extracted files of an upload, in MiB."`
	ExtractFiles int           `default:"500000" placeholder:"N" group:"Scans" help:"Maximum number of files in an upload."`
	ImageBytes   int64         `default:"16384" placeholder:"MIB" group:"Scans" help:"Maximum size of the layers of a container image as stored in the registry (compressed), in MiB."`
}

// Outbound says which addresses of others this process may ask, and how.
type Outbound struct {
	OutboundAllow   []string `placeholder:"CIDR|HOST" group:"Outgoing requests" help:"Networks, addresses and host names (.example.org: every host below it) that outgoing requests may reach although they are private or use plain HTTP. All other destinations must be public and use TLS."`
	OutboundProxy   string   `placeholder:"URL" group:"Outgoing requests" secret:"" help:"Proxy for outgoing requests, http:// or https://, with user and password if required. Variables of other programs, such as HTTPS_PROXY, are not read."`
	OutboundNoProxy []string `placeholder:"CIDR|HOST" group:"Outgoing requests" help:"Networks, addresses and host names that are reached without the proxy."`
	OutboundCAFile  string   `name:"outbound-ca-file" type:"path" placeholder:"FILE" group:"Outgoing requests" help:"Additional certificate authorities (PEM) to trust for outgoing requests."`
}

// Dast says which running applications may be scanned besides public ones whose owners
// are known, what runs their script, and where this process listens for what they send
// elsewhere.
type Dast struct {
	DastAllow []string `placeholder:"CIDR|HOST" group:"Scans of running applications" help:"Networks, addresses and host names (.example.org: every host below it) that live scans of every organization may reach and attack although they are private, without proof of ownership. Each use is recorded in the audit log."`

	DastBrowser string `default:"auto" placeholder:"PATH" group:"Scans of running applications" help:"Chromium that live scans use to run scripts: its path, auto for an installed one, or none. It runs in network, mount and process namespaces of its own; where the system does not allow these, scans report that they had no browser."`

	DastOAST       string `name:"dast-oast" aliases:"dast-callback" placeholder:"ADDR" group:"Scans of running applications" help:"Address (host:port) of the listener for out-of-band interactions (OAST) with targets. Each worker has its own. Default: none; scans then report which vulnerabilities they could not test for."`
	DastOASTURL    string `name:"dast-oast-url" aliases:"dast-callback-url" placeholder:"URL" group:"Scans of running applications" help:"URL at which targets reach the out-of-band listener. Default: http:// and the listener address."`
	DastOASTDomain string `name:"dast-oast-domain" aliases:"dast-callback-domain" placeholder:"DOMAIN" group:"Scans of running applications" help:"Domain for which the out-of-band listener is the authoritative name server; each worker needs its own."`
	DastOASTDNS    string `name:"dast-oast-dns" aliases:"dast-callback-dns" placeholder:"ADDR" group:"Scans of running applications" help:"Address (host:port) on which the out-of-band listener receives DNS queries. Default: the listener address."`
}

// Registries says as whom this process acts at Amazon.
type Registries struct {
	AWSPrincipalARN  string `name:"aws-principal-arn" placeholder:"ARN" group:"Registries of images" help:"ARN of the AWS user that assumes the roles of organizations to read their registries. Without it, organizations can only store access keys."`
	AWSAccessKeyID   string `name:"aws-access-key-id" placeholder:"ID" group:"Registries of images" help:"Access key ID of that user."`
	AWSSecretKeyFile string `name:"aws-secret-key-file" type:"path" placeholder:"FILE" group:"Registries of images" help:"File that contains the secret access key."`
}

// AWSKey returns the key of the deployment at Amazon: its public and its secret part.
// Both are empty when there is none.
func (r Registries) AWSKey() (id, secret string, err error) {
	// Half a configuration would fail at the first assumed role, hours later.
	set := 0
	for _, value := range []string{r.AWSPrincipalARN, r.AWSAccessKeyID, r.AWSSecretKeyFile} {
		if value != "" {
			set++
		}
	}
	switch set {
	case 0:
		return "", "", nil
	case 1, 2:
		return "", "", errs.E(errs.Invalid, "aws-principal-arn, aws-access-key-id and aws-secret-key-file belong "+
			"together")
	}
	text, err := os.ReadFile(r.AWSSecretKeyFile)
	if err != nil {
		return "", "", errs.Wrap(errs.Invalid, err, "cannot read aws-secret-key-file %s", r.AWSSecretKeyFile)
	}
	if secret = strings.TrimSpace(string(text)); secret == "" {
		return "", "", errs.E(errs.Invalid, "aws-secret-key-file %s is empty", r.AWSSecretKeyFile)
	}
	return r.AWSAccessKeyID, secret, nil
}

// Advisories says where vulnerability data is updated from.
type Advisories struct {
	AdvisoriesMirror    string        `placeholder:"URL" group:"Advisories" secret:"" help:"Mirror of vulnerability records in the layout of the OSV export, such as https://osv-vulnerabilities.storage.googleapis.com. Default: none; records are imported by hand."`
	AdvisoriesEcosystem []string      `placeholder:"NAME" group:"Advisories" help:"Ecosystems to take from the mirror. Default: all that it lists."`
	AdvisoriesEPSS      string        `name:"advisories-epss" placeholder:"URL" group:"Advisories" secret:"" help:"URL of the EPSS scores, such as https://epss.empiricalsecurity.com/epss_scores-current.csv.gz."`
	AdvisoriesKEV       string        `name:"advisories-kev" placeholder:"URL" group:"Advisories" secret:"" help:"URL of the catalogue of known exploited vulnerabilities (KEV), such as https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json."`
	AdvisoriesLicenses  string        `name:"advisories-licenses" placeholder:"URL" group:"Advisories" secret:"" help:"URL of a table of licences by package (docs/licences.md). Default: none; a table is imported by hand."`
	AdvisoriesKeyFile   string        `type:"path" placeholder:"FILE" group:"Advisories" help:"Public key (minisign) of the mirror. With one, each file must have a valid signature beside it (.minisig)."`
	AdvisoriesDigest    bool          `group:"Advisories" help:"Require a SHA-256 digest beside each file of the mirror (.sha256). Without this setting, a digest is verified only where there is one."`
	AdvisoriesInterval  time.Duration `default:"24h" group:"Advisories" help:"Update interval of merlon serve; 0 disables updates."`
}

// Key returns the text of the mirror's key; empty when there is none.
func (a Advisories) Key() (string, error) {
	if a.AdvisoriesKeyFile == "" {
		return "", nil
	}
	text, err := os.ReadFile(a.AdvisoriesKeyFile)
	if err != nil {
		return "", errs.Wrap(errs.Invalid, err, "cannot read advisories-key-file %s", a.AdvisoriesKeyFile)
	}
	return string(text), nil
}

// Updates reports whether the data is to be updated now and then.
func (a Advisories) Updates() bool {
	return a.AdvisoriesInterval > 0 && a.AdvisoriesMirror+a.AdvisoriesEPSS+a.AdvisoriesKEV+a.AdvisoriesLicenses != ""
}

// Limits bound what one user or organization makes others receive, or the service
// keep. 0 is no limit.
type Limits struct {
	LimitUserInvitations         int `default:"100" placeholder:"N" group:"Limits" help:"Maximum number of invitations that a user sends in 24 hours; 0 means no limit, also for the settings below."`
	LimitOrganizationInvitations int `default:"300" placeholder:"N" group:"Limits" help:"Maximum number of invitations to an organization in 24 hours."`
	LimitAddressInvitations      int `default:"10" placeholder:"N" group:"Limits" help:"Maximum number of invitations to an e-mail address in 24 hours, from all senders together."`
	LimitUserOrganizations       int `default:"20" placeholder:"N" group:"Limits" help:"Maximum number of organizations that a user creates in 24 hours."`
	LimitAddressMails            int `default:"50" placeholder:"N" group:"Limits" help:"Maximum number of mails to an e-mail address in 24 hours that others can cause: sign-up, recovery, invitations."`
	LimitUserTokens              int `default:"200" placeholder:"N" group:"Limits" help:"Maximum number of personal access tokens that a user creates in 24 hours; each causes a mail."`
	LimitQueuedScans             int `default:"500" placeholder:"N" group:"Limits" help:"Maximum number of queued scans of an organization."`
	LimitUserQueuedScans         int `default:"500" placeholder:"N" group:"Limits" help:"Maximum number of queued scans that a user has started, in all organizations together."`

	LimitOrganizationBytes int64 `default:"51200" placeholder:"MIB" group:"Limits" help:"Maximum size of the stored uploads of an organization, in MiB. An upload is deleted when its scan has ended."`
}

// Server is every setting of merlon serve.
type Server struct {
	Limits `embed:""`

	Store      `embed:""`
	Log        `embed:""`
	Work       `embed:""`
	Outbound   `embed:""`
	Dast       `embed:""`
	Registries `embed:""`
	Advisories `embed:""`

	Listen       string   `default:"127.0.0.1:8080" placeholder:"ADDR" group:"Addresses" help:"Address to listen on, host:port."`
	BaseURL      string   `placeholder:"URL" group:"Addresses" help:"Public URL of the API. Default: http:// and the listen address."`
	AuthURL      string   `placeholder:"URL" group:"Addresses" help:"Public URL of the identity service. Default: the base URL."`
	TLSCert      string   `type:"path" placeholder:"FILE" group:"Addresses" help:"Certificate chain for HTTPS, PEM. Without one the service uses HTTP, for a reverse proxy in front of it."`
	TLSKey       string   `type:"path" placeholder:"FILE" group:"Addresses" help:"Private key of the certificate, PEM."`
	TrustedProxy []string `placeholder:"CIDR" group:"Addresses" help:"Networks of trusted proxies. The client address is the right-most forwarded address that is not in these networks."`
	ProxyHeader  string   `default:"x-forwarded-for" enum:"x-forwarded-for,forwarded" group:"Addresses" help:"Header in which trusted proxies forward the client address: x-forwarded-for or forwarded (RFC 7239). The other header is ignored, because a client can set it."`
	Connections  `embed:""`
	Environment  string   `default:"production" enum:"development,staging,production" group:"Region" help:"Kind of deployment: development, staging or production."`
	PeerRegion   []string `placeholder:"NAME,BASE_URL,AUTH_URL" sep:";" aliases:"sister" group:"Region" help:"Another region of the same service. May be repeated. A request for an organization of that region is answered with its URL."`

	TokenLifetime    time.Duration `default:"10m" group:"Sign-in" help:"Lifetime of an access token of a browser session, an editor or another application."`
	CLITokenLifetime time.Duration `name:"cli-token-lifetime" default:"60m" group:"Sign-in" help:"Lifetime of an access token of the cli application, for which personal access tokens are exchanged."`
	RefreshLifetime  time.Duration `default:"336h" group:"Sign-in" help:"Absolute lifetime of a grant: refreshing does not extend it."`
	SessionLifetime  time.Duration `default:"12h" group:"Sign-in" help:"Maximum lifetime of a browser session."`
	SessionIdle      time.Duration `default:"2h" group:"Sign-in" help:"Idle timeout of a browser session."`
	SignUp           bool          `default:"false" negatable:"" group:"Sign-in" help:"Allow anybody with a verified e-mail address to create an account. Off: invited people only."`
	TokenTypeVendor  []string      `default:"merlon" placeholder:"NAME" group:"Sign-in" help:"Accepted vendor names in urn:<vendor>:token-type:personal_access_token."`
	ResourceAlias    []string      `placeholder:"URL" group:"Sign-in" help:"Additional values of the resource parameter that are accepted as the base URL."`
	CLIAppID         string        `name:"cli-app-id" placeholder:"ID" group:"Sign-in" help:"Client ID of the cli application. Default: generated once and stored, as for the two below."`
	VSCodeAppID      string        `name:"vscode-app-id" placeholder:"ID" group:"Sign-in" help:"Client ID of the vscode application."`
	EditorExtension  []string      `name:"editor-extension" placeholder:"PUBLISHER.NAME" default:"merlon.merlon" group:"Sign-in" help:"Editor extensions that may receive vscode:// and vscode-insiders:// redirects of the vscode application."`
	IntelliJAppID    string        `name:"intellij-app-id" placeholder:"ID" group:"Sign-in" help:"Client ID of the intellij application."`
	ClientsFile      string        `name:"confidential-clients-file" type:"path" placeholder:"FILE" group:"Sign-in" help:"YAML list of confidential clients, such as a web application or a service that introspects tokens: id, name, secret, redirect-uris, post-logout-redirect-uris, id-token-signed-response-alg (RS256, the default, or ES256)."`
	CLIExtraAppID    []string      `name:"cli-extra-app-id" placeholder:"ID" group:"Sign-in" help:"Additional client IDs of the cli application."`

	SMTPAddress      string `name:"smtp-address" placeholder:"HOST:PORT" group:"Mail" help:"Mail server. Default: none; mails are written to the folder outbox in the data folder."`
	SMTPEncryption   string `name:"smtp-encryption" default:"auto" enum:"auto,starttls,tls,none" group:"Mail" help:"Encryption of the connection to the mail server: starttls, tls, none (only on this machine), or auto, which depends on the port."`
	SMTPUser         string `name:"smtp-user" placeholder:"NAME" group:"Mail" help:"User name at the mail server."`
	SMTPPasswordFile string `name:"smtp-password-file" type:"path" placeholder:"FILE" group:"Mail" help:"File that contains the password for the mail server."`
	MailFrom         string `default:"merlon@localhost" placeholder:"ADDRESS" group:"Mail" help:"Sender address of mails."`
}

// Connections bounds what clients may occupy.
type Connections struct {
	MaxConnections       int `placeholder:"N" default:"0" group:"Addresses" help:"Maximum number of open connections. Above it, the connection that has waited longest for its client is closed. Default: the limit of open files less a third of it (at most 1024), which is reserved for the database, uploads and scans; 8192 at most."`
	MaxClientConnections int `placeholder:"N" default:"0" group:"Addresses" help:"Maximum number of connections and of concurrent requests per client address. Default: a quarter of max-connections."`
}

// Worker is every setting of merlon worker.
type Worker struct {
	Store      `embed:""`
	Log        `embed:""`
	Work       `embed:""`
	Outbound   `embed:""`
	Dast       `embed:""`
	Registries `embed:""`
}

// URL returns the database URL, from its file if that is where it is; empty means
// the embedded database.
func (s Store) URL() (string, error) {
	if s.DatabaseURLFile == "" {
		return s.DatabaseURL, nil
	}
	if s.DatabaseURL != "" {
		return "", errs.E(errs.Invalid, "database-url and database-url-file are both set")
	}
	text, err := os.ReadFile(s.DatabaseURLFile)
	if err != nil {
		return "", fmt.Errorf("database-url-file: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// Path returns the path of a file or folder in the data folder.
func (s Store) Path(name string) string { return filepath.Join(s.Data, name) }

// A PeerRegion is another region of the same service.
type PeerRegion struct{ Name, BaseURL, AuthURL string }

// PeerRegions returns the other regions of the service.
func (s Server) PeerRegions() ([]PeerRegion, error) {
	var out []PeerRegion
	for _, text := range s.PeerRegion {
		parts := strings.Split(text, ",")
		if len(parts) != 3 {
			return nil, errs.E(errs.Invalid, "peer-region %q: expected NAME,BASE_URL,AUTH_URL", text)
		}
		peer := PeerRegion{Name: parts[0], BaseURL: trimSlash(parts[1]), AuthURL: trimSlash(parts[2])}
		if peer.Name == s.Region {
			return nil, errs.E(errs.Invalid, "peer-region %q has the name of this region", text)
		}
		if err := errors.Join(checkURL("peer-region", peer.BaseURL),
			checkURL("peer-region", peer.AuthURL)); err != nil {
			return nil, err
		}
		out = append(out, peer)
	}
	return out, nil
}

// Addresses returns the base and identity URL for a listener on addr.
func (s Server) Addresses(addr net.Addr) (base, auth string) {
	base = trimSlash(s.BaseURL)
	if base == "" {
		scheme := "http"
		if s.TLSCert != "" {
			scheme = "https"
		}
		base = scheme + "://" + localName(addr)
	}
	auth = trimSlash(s.AuthURL)
	if auth == "" {
		auth = base
	}
	return base, auth
}

// localName is an address under which this machine reaches the listener.
func localName(addr net.Addr) string {
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil || !ap.Addr().IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("localhost", fmt.Sprint(ap.Port()))
}

// Proxies returns the networks of trusted proxies.
func (s Server) Proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range s.TrustedProxy {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, errs.E(errs.Invalid, "trusted-proxy %q is not a network such as 10.0.0.0/8", text)
		}
		out = append(out, p)
	}
	return out, nil
}

// Validate returns an Invalid error for the first setting that cannot hold.
func (s Server) Validate() error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errs.E(errs.Invalid, "tls-cert and tls-key go together")
	}
	if s.TokenLifetime < time.Minute || s.CLITokenLifetime < time.Minute {
		return errs.E(errs.Invalid, "token-lifetime %s or cli-token-lifetime %s is shorter than a minute: clients "+
			"renew 30 s before the end", s.TokenLifetime, s.CLITokenLifetime)
	}
	if s.AdvisoriesInterval < 0 || s.AdvisoriesInterval > 0 && s.AdvisoriesInterval < time.Minute {
		return errs.E(errs.Invalid, "advisories-interval %s is shorter than a minute", s.AdvisoriesInterval)
	}
	if s.MaxConnections < 0 || s.MaxClientConnections < 0 {
		return errs.E(errs.Invalid, "max-connections and max-client-connections are not negative")
	}
	if _, err := s.PeerRegions(); err != nil {
		return err
	}
	if _, err := s.Proxies(); err != nil {
		return err
	}
	for name, text := range map[string]string{"base-url": s.BaseURL, "auth-url": s.AuthURL} {
		if err := checkURL(name, text); text != "" && err != nil {
			return err
		}
	}
	return nil
}

// trimSlash removes trailing slashes, so that paths can be appended to a base URL.
func trimSlash(u string) string { return strings.TrimRight(u, "/") }

// checkURL accepts an http or https URL without query and fragment.
func checkURL(name, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return errs.E(errs.Invalid, "%s %q is not an http or https address", name, text)
	}
	return nil
}
