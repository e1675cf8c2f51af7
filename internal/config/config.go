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
	Data            string `default:"data" type:"path" placeholder:"DIR" group:"Storage" help:"Folder of everything that this process keeps: embedded database, uploads, keys, mail."`
	DatabaseURL     string `placeholder:"URL" group:"Storage" secret:"" help:"PostgreSQL database, postgres://user:password@host:port/name. Default: an embedded database in the data folder."`
	DatabaseURLFile string `type:"path" placeholder:"FILE" group:"Storage" help:"File that holds the database URL."`
	// DatabasePlaintext stands in for sslmode in the URL, whose default falls back to none.
	DatabasePlaintext bool   `group:"Storage" help:"Accept a database URL that lets the connection to another host go without TLS (sslmode disable, allow or prefer, which is the default of URLs). Without this setting such a URL is refused."`
	BlobURL           string `placeholder:"URL" group:"Storage" secret:"" help:"Storage of uploads: file:///folder or s3://bucket?region=…. Default: a folder in the data folder, or what the database says the deployment uses."`
	MasterKeyFile     string `type:"path" placeholder:"FILE" group:"Storage" help:"Key that secrets in the database are sealed under, 32 bytes as base64; the same for all servers of a deployment, and for workers that are to scan private images. Default: master.key in the data folder, which a server makes when it is missing."`
	Region            string `default:"local" placeholder:"NAME" group:"Region" help:"Name of the region that this deployment is."`
}

// Log says what is written to the log, and where.
type Log struct {
	LogLevel  string `default:"info" enum:"debug,info,warn,error" group:"Log" help:"Minimum log level: debug, info, warn or error."`
	LogFormat string `default:"text" enum:"text,json" group:"Log" help:"Log format: text or json."`
	LogFile   string `type:"path" placeholder:"FILE" group:"Log" help:"File to append the log to. Default: standard error; merlon demo writes to merlon.log in the data folder."`
}

// Work says how scans are run.
type Work struct {
	Workers      int           `default:"2" placeholder:"N" group:"Scans" help:"Scans that this process runs at the same time; 0 leaves them to other workers."`
	ScanTimeout  time.Duration `default:"1h" group:"Scans" help:"Longest time that one scan may run."`
	LiveTimeout  time.Duration `default:"4h" group:"Scans" help:"Longest time that one scan of a running application may run; when it is paused or its worker is lost, it begins again."`
	ScanMemory   int64         `default:"4096" placeholder:"MIB" group:"Scans" help:"Most memory that one scan may use, in MiB."`
	ExtractBytes int64         `default:"10240" placeholder:"MIB" group:"Scans" help:"Most bytes that an uploaded archive may unpack to, in MiB."`
	ExtractFiles int           `default:"500000" placeholder:"N" group:"Scans" help:"Most files that an uploaded archive may hold."`
	ImageBytes   int64         `default:"16384" placeholder:"MIB" group:"Scans" help:"Most bytes that the layers of a container image may have, as its registry stores them, in MiB."`
}

// Outbound says which addresses of others this process may ask, and how.
type Outbound struct {
	OutboundAllow   []string `placeholder:"CIDR|HOST" group:"Outgoing requests" help:"Networks, addresses and host names (.example.org: every host below it) that may be asked although they are private, or spoken to without encryption. Everything else must be public and encrypted."`
	OutboundProxy   string   `placeholder:"URL" group:"Outgoing requests" secret:"" help:"Proxy for outgoing requests, http:// or https://, with user and password if it wants them. Variables of other programs, such as HTTPS_PROXY, are not read."`
	OutboundNoProxy []string `placeholder:"CIDR|HOST" group:"Outgoing requests" help:"Networks, addresses and host names that are asked without the proxy."`
	OutboundCAFile  string   `name:"outbound-ca-file" type:"path" placeholder:"FILE" group:"Outgoing requests" help:"Further certificate authorities, PEM, for servers and proxies of your own."`
}

// Dast says which running applications may be scanned besides public ones whose owners
// are known, what runs their script, and where this process listens for what they send
// elsewhere.
type Dast struct {
	DastAllow []string `placeholder:"CIDR|HOST" group:"Scans of running applications" help:"Networks, addresses and host names (.example.org: every host below it) that scans of every organization may reach and attack although they are private, and without a proof of who owns them. Each use is recorded in the audit log."`

	DastBrowser string `default:"auto" placeholder:"PATH" group:"Scans of running applications" help:"The Chromium that scans of this process run script with: its path, auto for one that is installed, none. It runs in a network, a file tree and processes of its own; where the system refuses these, scans say that they had no browser."`

	DastCallback       string `placeholder:"ADDR" group:"Scans of running applications" help:"Where the scans of this process listen for what a target sends elsewhere when it is attacked, host:port. Each worker has its own. Default: nowhere, and scans say what they did not look for."`
	DastCallbackURL    string `name:"dast-callback-url" placeholder:"URL" group:"Scans of running applications" help:"The address at which targets reach that. Default: http:// and the address."`
	DastCallbackDomain string `placeholder:"DOMAIN" group:"Scans of running applications" help:"A domain of which that listener is the name server; each worker has another one."`
	DastCallbackDNS    string `name:"dast-callback-dns" placeholder:"ADDR" group:"Scans of running applications" help:"Where it listens for questions of DNS, host:port. Default: at the same address."`
}

// Registries says as whom this process acts at Amazon.
type Registries struct {
	AWSPrincipalARN  string `name:"aws-principal-arn" placeholder:"ARN" group:"Registries of images" help:"User at Amazon as whom the roles of organizations are assumed, to read their registries. Without it they can store keys of users only."`
	AWSAccessKeyID   string `name:"aws-access-key-id" placeholder:"ID" group:"Registries of images" help:"Key of that user."`
	AWSSecretKeyFile string `name:"aws-secret-key-file" type:"path" placeholder:"FILE" group:"Registries of images" help:"File that holds the secret part of the key."`
}

// AWSKey returns the key of the deployment at Amazon: its public and its secret part.
// Both are empty when there is none.
func (r Registries) AWSKey() (id, secret string, err error) {
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
	AdvisoriesMirror    string        `placeholder:"URL" group:"Advisories" secret:"" help:"Mirror of vulnerability records that is laid out as OSV's export, such as https://osv-vulnerabilities.storage.googleapis.com. Default: none, records are imported by hand."`
	AdvisoriesEcosystem []string      `placeholder:"NAME" group:"Advisories" help:"Ecosystems to take from the mirror. Default: all that it lists."`
	AdvisoriesEPSS      string        `name:"advisories-epss" placeholder:"URL" group:"Advisories" secret:"" help:"Table of EPSS scores, such as https://epss.empiricalsecurity.com/epss_scores-current.csv.gz."`
	AdvisoriesKEV       string        `name:"advisories-kev" placeholder:"URL" group:"Advisories" secret:"" help:"Catalogue of known exploited vulnerabilities, such as https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json."`
	AdvisoriesKeyFile   string        `type:"path" placeholder:"FILE" group:"Advisories" help:"Public key of minisign. With one, a file of the mirror is taken only with a signature beside it (.minisig) that holds."`
	AdvisoriesDigest    bool          `group:"Advisories" help:"Take a file of the mirror only with its SHA-256 beside it (.sha256). Without this setting a digest is compared where there is one."`
	AdvisoriesInterval  time.Duration `default:"24h" group:"Advisories" help:"How often merlon serve updates, when it is told where from; 0 never."`
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
	return a.AdvisoriesInterval > 0 && a.AdvisoriesMirror+a.AdvisoriesEPSS+a.AdvisoriesKEV != ""
}

// Limits bound what one user or organization makes others receive, or the service
// keep. 0 is no limit.
type Limits struct {
	LimitUserInvitations         int `default:"100" placeholder:"N" group:"Limits" help:"Most invitations that one user sends in 24 hours; 0 for no limit, as for the settings below."`
	LimitOrganizationInvitations int `default:"300" placeholder:"N" group:"Limits" help:"Most invitations into one organization in 24 hours."`
	LimitAddressInvitations      int `default:"10" placeholder:"N" group:"Limits" help:"Most invitations to one e-mail address in 24 hours, from all senders together."`
	LimitUserOrganizations       int `default:"20" placeholder:"N" group:"Limits" help:"Most organizations that one user creates in 24 hours."`
	LimitAddressMails            int `default:"50" placeholder:"N" group:"Limits" help:"Most mails to one e-mail address in 24 hours that others can ask for: sign-up, recovery, invitations."`
	LimitUserTokens              int `default:"200" placeholder:"N" group:"Limits" help:"Most personal access tokens that one user creates in 24 hours: a mail tells of each."`
	LimitQueuedScans             int `default:"500" placeholder:"N" group:"Limits" help:"Most scans of one organization that wait at the same time."`
	LimitUserQueuedScans         int `default:"500" placeholder:"N" group:"Limits" help:"Most scans that one user has started and that wait at the same time, in all organizations together."`

	LimitOrganizationBytes int64 `default:"51200" placeholder:"MIB" group:"Limits" help:"Most bytes of uploads that are stored for one organization at the same time, in MiB. An upload is deleted when its scan has ended."`
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
	BaseURL      string   `placeholder:"URL" group:"Addresses" help:"Address of the API as clients see it. Default: http:// and the listen address."`
	AuthURL      string   `placeholder:"URL" group:"Addresses" help:"Address of the identity service as clients see it. Default: the base URL."`
	TLSCert      string   `type:"path" placeholder:"FILE" group:"Addresses" help:"Certificate chain for HTTPS, PEM. Without one the service speaks HTTP, for a proxy in front of it."`
	TLSKey       string   `type:"path" placeholder:"FILE" group:"Addresses" help:"Private key of the certificate, PEM."`
	TrustedProxy []string `placeholder:"CIDR" group:"Addresses" help:"Networks of proxies that note the address of their client. The client is the right-most noted address that is not in these networks."`
	ProxyHeader  string   `default:"x-forwarded-for" enum:"x-forwarded-for,forwarded" group:"Addresses" help:"Header in which trusted proxies note it: x-forwarded-for or forwarded (RFC 7239). The other one is ignored: it may come from the client."`
	Connections  `embed:""`
	Environment  string   `default:"production" enum:"development,staging,production" group:"Region" help:"What the deployment is for: development, staging or production."`
	Sister       []string `placeholder:"NAME,BASE_URL,AUTH_URL" sep:";" group:"Region" help:"Another region of the same service; may be given several times. A request for one of its organizations is answered with its address."`

	TokenLifetime    time.Duration `default:"10m" group:"Sign-in" help:"Lifetime of an access token of a browser session, an editor or another application."`
	CLITokenLifetime time.Duration `name:"cli-token-lifetime" default:"60m" group:"Sign-in" help:"Lifetime of an access token of the cli application, by which personal access tokens are exchanged."`
	RefreshLifetime  time.Duration `default:"336h" group:"Sign-in" help:"For how long a sign-in of an application can be refreshed. Refreshing does not extend it."`
	SessionLifetime  time.Duration `default:"12h" group:"Sign-in" help:"Longest lifetime of a browser session."`
	SessionIdle      time.Duration `default:"2h" group:"Sign-in" help:"A browser session that is not used for so long ends."`
	SignUp           bool          `default:"false" negatable:"" group:"Sign-in" help:"Let anybody with a verified e-mail address make an account. Off: only people who are invited."`
	TokenTypeVendor  []string      `default:"merlon" placeholder:"NAME" group:"Sign-in" help:"Vendor parts that are accepted in urn:<vendor>:token-type:personal_access_token."`
	ResourceAlias    []string      `placeholder:"URL" group:"Sign-in" help:"Further values of the resource parameter that stand for the base URL."`
	CLIAppID         string        `name:"cli-app-id" placeholder:"ID" group:"Sign-in" help:"Identifier of the cli application. Default: made once and stored; the same for the two below."`
	VSCodeAppID      string        `name:"vscode-app-id" placeholder:"ID" group:"Sign-in" help:"Identifier of the vscode application."`
	EditorExtension  []string      `name:"editor-extension" placeholder:"PUBLISHER.NAME" default:"merlon.merlon" group:"Sign-in" help:"Editor extensions that may receive vscode:// and vscode-insiders:// redirects of the vscode application."`
	IntelliJAppID    string        `name:"intellij-app-id" placeholder:"ID" group:"Sign-in" help:"Identifier of the intellij application."`
	ClientsFile      string        `name:"confidential-clients-file" type:"path" placeholder:"FILE" group:"Sign-in" help:"YAML list of applications that keep a secret, such as a web application, or a service that introspects tokens: id, name, secret, redirect-uris, post-logout-redirect-uris, id-token-signed-response-alg (RS256, the default, or ES256)."`
	CLIExtraAppID    []string      `name:"cli-extra-app-id" placeholder:"ID" group:"Sign-in" help:"Further identifiers that stand for the cli application."`

	SMTPAddress      string `name:"smtp-address" placeholder:"HOST:PORT" group:"Mail" help:"Mail server. Default: mails are written to the folder outbox in the data folder."`
	SMTPEncryption   string `name:"smtp-encryption" default:"auto" enum:"auto,starttls,tls,none" group:"Mail" help:"How the way to the mail server is protected: starttls, tls, none (only on this machine), or auto, which goes by the address."`
	SMTPUser         string `name:"smtp-user" placeholder:"NAME" group:"Mail" help:"User at the mail server."`
	SMTPPasswordFile string `name:"smtp-password-file" type:"path" placeholder:"FILE" group:"Mail" help:"File that holds the password at the mail server."`
	MailFrom         string `default:"merlon@localhost" placeholder:"ADDRESS" group:"Mail" help:"Sender of mails."`
}

// Connections bounds what clients may occupy.
type Connections struct {
	MaxConnections       int `placeholder:"N" default:"0" group:"Addresses" help:"Most connections that are open at once. When there are more, the slowest that waits for its client is closed. Default: the limit of open files without a third of it (at most 1024), which is left to the database, uploads and scans; never more than 8192."`
	MaxClientConnections int `placeholder:"N" default:"0" group:"Addresses" help:"Most connections, and requests, of one client address at once. Default: a quarter of max-connections."`
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

// A Sister is another region of the same service.
type Sister struct{ Name, BaseURL, AuthURL string }

// Sisters returns the other regions.
func (s Server) Sisters() ([]Sister, error) {
	var out []Sister
	for _, text := range s.Sister {
		parts := strings.Split(text, ",")
		if len(parts) != 3 {
			return nil, errs.E(errs.Invalid, "sister %q: expected NAME,BASE_URL,AUTH_URL", text)
		}
		sister := Sister{Name: parts[0], BaseURL: trimSlash(parts[1]), AuthURL: trimSlash(parts[2])}
		if sister.Name == s.Region {
			return nil, errs.E(errs.Invalid, "sister %q has the name of this region", text)
		}
		if err := errors.Join(checkURL("sister", sister.BaseURL), checkURL("sister", sister.AuthURL)); err != nil {
			return nil, err
		}
		out = append(out, sister)
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
	if _, err := s.Sisters(); err != nil {
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

func trimSlash(u string) string { return strings.TrimRight(u, "/") }

func checkURL(name, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return errs.E(errs.Invalid, "%s %q is not an http or https address", name, text)
	}
	return nil
}
