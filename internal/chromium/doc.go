// Package chromium starts headless Chromium with least rights.
//
// The browser is a process that nobody else can speak to: it takes commands of the Chrome
// DevTools Protocol from a pipe. It may gain no rights, keeps its own sandbox, has a
// folder that is thrown away, a limit of memory, and one way to the network, a proxy that
// the caller serves. Start does that with the means of every user; StartAlone puts the
// browser into a network, a file tree and processes of its own besides, so that nothing
// but the proxy is left even to one that was taken over.
package chromium
