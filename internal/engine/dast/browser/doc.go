// Package browser runs a headless Chromium for the dynamic scanner.
//
// The browser is a process of its own: an unprivileged user, Chromium's sandbox,
// no way to gain rights, a profile folder that is thrown away, limits of memory and
// pages. It is spoken to over a pipe (Chrome DevTools Protocol), so that no other
// process can speak to it.
//
// It reaches nothing but through us, twice over. Every request of a page is held
// until a Gate has decided about its address (interception, intercept.go), redirects
// included; and the only way to the network is a proxy in this process (guard.go),
// which asks for a credential that only this browser knows, connects only to hosts
// of requests that were let through, and dials with the guarded dialer of the scan.
//
// A Page is one tab in a profile of its own. Explore walks through an application,
// Run proves that a script is executed, ProbeDOM looks for vulnerabilities in the page's own
// scripts, and SignIn repeats recorded steps.
//
// chromedp gives the transport and the types of the protocol. Its own targets are
// not used: a page that the target opens has to be held before it runs, and requests
// of frames and workers too, which needs attached sessions that chromedp hides.
package browser
