// Package server composes the service out of its parts and runs it: settings in,
// a database, an HTTP listener and workers out. It is the only package that knows
// all the others.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"merlon/internal/api"
	"merlon/internal/audit"
	"merlon/internal/config"
	"merlon/internal/identity"
	"merlon/internal/livetarget/ownership"
	"merlon/internal/oidc"
	"merlon/internal/remediation"
	"merlon/internal/run"
	"merlon/internal/worker"
)

// Addresses are those under which clients reach a service.
type Addresses struct{ BaseURL, AuthURL string }

// Run serves until ctx ends. When requests are answered, it calls ready with its
// addresses.
func Run(ctx context.Context, c config.Server, ready func(Addresses)) error {
	// Settings first: a mistake in them must not leave a half-made data folder behind.
	if err := c.Validate(); err != nil {
		return err
	}
	log, err := openLogger(c.Log)
	if err != nil {
		return err
	}
	d, err := openDeployment(ctx, c.Store)
	if err != nil {
		return err
	}
	defer d.closeAll(log)
	// Before the identity provider: the default URLs contain the port, which the system chooses
	// when the setting is :0.
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = l.Close() }() // closed already when it was served
	most, err := newLimits(c.Connections)
	if err != nil {
		return fmt.Errorf("limits of connections: %w", err)
	}
	networks, err := c.Proxies()
	if err != nil {
		return err
	}
	at := Addresses{}
	at.BaseURL, at.AuthURL = c.Addresses(l.Addr())

	service, provider, err := newIdentity(c, at, d, log)
	if err != nil {
		return err
	}
	courier, err := newCourier(c, d, log)
	if err != nil {
		return err
	}
	client, err := Outbound(c.Outbound, log, at.BaseURL, at.AuthURL)
	if err != nil {
		return err
	}
	held, err := newImages(d, client, c.Registries, c.ImageBytes<<20)
	if err != nil {
		return err
	}
	// The listener for out-of-band interactions faces targets under test. It gets an eighth of
	// the connections, so that a target cannot exhaust the files of the service.
	calls, err := newListener(c.Dast, most.open/8, log)
	if err != nil {
		return err
	}
	defer closeListener(calls, log)
	owners, err := newOwners(d, c.Dast, dastClosed(c.Store, calls, l.Addr().String()), log, at.BaseURL, at.AuthURL)
	if err != nil {
		return err
	}
	work, err := newWorker(d, c.Store, c.Work, subjects{held, owners, calls, c.DastBrowser}, log)
	if err != nil {
		return err
	}
	planner := remediation.New(d.db, log, d.db.Now, uuid.NewString)
	// Denials are counted in memory and written in intervals: an attacker who tries thousands of
	// IDs must not fill the audit log.
	refusals := audit.NewAccessDenials(d.db, d.db.Now)
	d.db.MaxQueued, d.db.MaxUserQueued = c.LimitQueuedScans, c.LimitUserQueuedScans
	d.db.MaxStored = c.LimitOrganizationBytes << 20
	handler, err := newHandler(c, at, parts{d, service, provider, work, held, planner, owners, refusals}, log)
	if err != nil {
		return err
	}
	// The address is resolved first: the limits per client and the log need that of the client,
	// not that of the proxy.
	handler = resolveClientAddress(proxies{networks, c.ProxyHeader},
		limitClientRequests(most, logRequests(log, handler)))

	// The first part that fails ends all others, and with them the process. Parts that handle
	// their own failures return nil.
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return serveHTTP(ctx, newConnections(l, most, networks), handler, certificate{c.TLSCert, c.TLSKey})
	})
	g.Go(func() error { return work.Run(ctx) })
	g.Go(func() error { courier.Run(ctx); return nil })
	g.Go(func() error { planner.Run(ctx); return nil })
	g.Go(func() error { redactStored(ctx, d, log); return nil })
	g.Go(func() error { keepAdvisories(ctx, d.db, c, client, log); return nil })
	g.Go(func() error { provider.Run(ctx, time.Hour); return nil })
	g.Go(func() error { refusals.Run(ctx, reportTo(ctx, log)); return nil })
	g.Go(func() error { service.Run(ctx, reportTo(ctx, log)); return nil })
	log.InfoContext(ctx, "serving", "listen", l.Addr().String(), "base-url", at.BaseURL, "auth-url", at.AuthURL,
		"region", c.Region,
		"connections", most.open, "connections-of-a-client", most.client, "sign-up", c.SignUp)
	ready(at)
	return ignoreCancellation(g.Wait())
}

// RunWorker runs scans until ctx ends.
func RunWorker(ctx context.Context, c config.Worker) error {
	log, err := openLogger(c.Log)
	if err != nil {
		return err
	}
	d, err := openWorker(ctx, c.Store)
	if err != nil {
		return err
	}
	defer d.closeAll(log)
	client, err := Outbound(c.Outbound, log)
	if err != nil {
		return err
	}
	held, err := newImages(d, client, c.Registries, c.ImageBytes<<20)
	if err != nil {
		return err
	}
	calls, err := newListener(c.Dast, 0, log)
	if err != nil {
		return err
	}
	defer closeListener(calls, log)
	owners, err := newOwners(d, c.Dast, dastClosed(c.Store, calls), log)
	if err != nil {
		return err
	}
	work, err := newWorker(d, c.Store, c.Work, subjects{held, owners, calls, c.DastBrowser}, log)
	if err != nil {
		return err
	}
	if d.box == nil {
		log.WarnContext(ctx, "this worker has no master key: scans of private images are left to others", "setting",
			"master-key-file")
	}
	log.InfoContext(ctx, "working", "slots", c.Workers, "region", c.Region)
	return ignoreCancellation(work.Run(ctx))
}

// ignoreCancellation turns the end that was asked for into none.
func ignoreCancellation(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// reportTo returns a function that logs errors of background work, which has no caller.
func reportTo(ctx context.Context, log *slog.Logger) func(error) {
	return func(err error) { log.ErrorContext(ctx, "background work failed", "error", err) }
}

// parts are the services behind the HTTP addresses.
type parts struct {
	*deployment
	// people signs users in and keeps their tokens.
	people *identity.Service
	// provider issues and verifies access tokens.
	provider *oidc.Provider
	// work runs scans in this process; it may have no slots.
	work    *worker.Worker
	images  images
	planner *remediation.Service
	owners  *ownership.Verifier
	// refusals collects denied requests for the audit log.
	refusals *audit.AccessDenials
}

// newIdentity returns who people are and the provider that says so to
// applications. Each tells the other: the provider asks for sessions, and ends an
// application's grants when all of a person's sessions end.
func newIdentity(c config.Server, at Addresses, d *deployment,
	log *slog.Logger) (*identity.Service, *oidc.Provider, error) {
	var provider *oidc.Provider
	limits := identity.DefaultLimits
	limits.MailRecipient.Max, limits.TokenMail.Max = c.LimitAddressMails, c.LimitUserTokens
	service := identity.New(identity.Options{
		Store: d.db, Post: d.mailPost(), Region: c.Region, AuthURL: at.AuthURL, Now: d.db.Now, Limits: limits,
		InvitedOnly: !c.SignUp, SessionLifetime: c.SessionLifetime, SessionIdle: c.SessionIdle,
	})
	clients, err := confidentialClients(c.ClientsFile)
	if err != nil {
		return nil, nil, err
	}
	provider, err = oidc.New(oidc.Config{
		BaseURL: at.BaseURL, AuthURL: at.AuthURL, Aliases: c.ResourceAlias, Vendors: c.TokenTypeVendor,
		Apps: oidc.ClientApps{
			CLI: oidc.ClientApp{AppID: c.CLIAppID}, VSCode: oidc.ClientApp{AppID: c.VSCodeAppID},
			IntelliJ: oidc.ClientApp{AppID: c.IntelliJAppID},
		},
		EditorExtensions: c.EditorExtension, CLIIDs: c.CLIExtraAppID, Clients: clients, AccessLifetime: c.TokenLifetime,
		CLILifetime: c.CLITokenLifetime, RefreshLifetime: c.RefreshLifetime, SignUp: true,
		Box: d.box, Store: d.db, People: service, Now: d.db.Now, Log: log,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("identity provider: %w", err)
	}
	return service, provider, nil
}

// newHandler joins the API and the identity addresses, which share no path.
func newHandler(c config.Server, at Addresses, p parts, log *slog.Logger) (http.Handler, error) {
	peers, err := c.PeerRegions()
	if err != nil {
		return nil, err
	}
	cfg := api.Config{
		Region: api.Region{Name: c.Region, BaseURL: at.BaseURL, AuthURL: at.AuthURL},
		Version: api.Version{Service: "merlon", Version: config.Version, Commit: config.Commit(),
			Environment: c.Environment, DeploymentEnv: c.Region},
		Now: p.db.Now, Log: log,
		Authenticate: p.provider.Authenticate,
		Refused:      p.refusals.Add,
		Missed:       p.refusals.AddNotFound,
		Allow:        p.people.Allow,
		Quotas: api.Quotas{
			UserInvitations: c.LimitUserInvitations, OrganizationInvitations: c.LimitOrganizationInvitations,
			AddressInvitations: c.LimitAddressInvitations, UserOrganizations: c.LimitUserOrganizations,
			AddressMails: c.LimitAddressMails,
		},
		ClientApps: clientApps(p.provider.ClientApps()),
		// The store implements the interfaces of all resources; the API sees a part of it each
		// time.
		Scopes: p.db, Tenancy: p.db, Stats: p.db, Results: p.db, Numbers: p.db, Overviews: p.db, Users: p.people,
		Tokens:   p.people,
		Analyses: Analyses(), Post: p.mailPost(), Remedies: p.planner,
		Requests: p.db, Box: p.box, Credentials: p.db, Targets: p.db, Owners: p.owners, Catalog: p.images.catalog,
		AWSPrincipal: c.AWSPrincipalARN, Images: p.images, Search: p.images.catalog,
		Scans: run.New(run.Config{
			Store: p.db, Uploads: p.db, Blobs: p.blobs, Key: p.box.Derive("upload"), BaseURL: at.BaseURL,
			Available: Analyses(), Now: p.db.Now, Wake: p.work.Wake,
		}),
	}
	for _, s := range peers {
		cfg.PeerRegions = append(cfg.PeerRegions, api.Region{Name: s.Name, BaseURL: s.BaseURL, AuthURL: s.AuthURL})
	}
	apiHandler, identityHandler := api.New(cfg).Handler(), p.provider.Handler()
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isIdentity(r.URL.Path) {
			identityHandler.ServeHTTP(w, r)
			return
		}
		apiHandler.ServeHTTP(w, r)
	})
	return setSecurityHeaders(strings.HasPrefix(at.BaseURL, "https:"), h), nil
}

// clientApps is the wire form of the provider's applications.
func clientApps(a oidc.ClientApps) api.ClientApps {
	return api.ClientApps{
		CLI: api.ClientApp{AppID: a.CLI.AppID}, VSCode: api.ClientApp{AppID: a.VSCode.AppID},
		IntelliJ: api.ClientApp{AppID: a.IntelliJ.AppID},
	}
}

// isIdentity reports whether an address is the identity service's. The look-up of
// enterprise sign-on is the API's, although it begins with /auth/.
func isIdentity(path string) bool {
	if path == "/auth/sso/connectors" {
		return false
	}
	for _, prefix := range []string{"/oidc/", "/auth/", "/.well-known/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
