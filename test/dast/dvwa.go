package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"merlon/test/table"
)

// This file measures attacks on DVWA behind its sign-in. Every module is vulnerable
// at the level low and safe at the level impossible.

// A module is a folder below /vulnerabilities.
// name is the folder; class is the kind of flaw that the module teaches.
type module struct {
	name  string
	class class // what it is about
}

// modules lists those of the application's menu that the target can serve: captcha
// needs a key of an outer service. Another one (bac) is not in the menu.
var modules = []module{
	{"api", exposure},
	{"authbypass", authorization},
	// Its query is vulnerable to SQL injection as well at the level low.
	{"brute", noLimit.joinClasses(sqlInjection...)},
	{"cryptography", weakCrypto},
	// A bypass of the policy is shown by the script that runs.
	{"csp", contentPolicy.joinClasses(crossSiteScripting...)},
	{"csrf", requestForgery},
	{"exec", commandInjection},
	{"fi", pathTraversal},
	{"javascript", clientEnforced},
	{"open_redirect", openRedirect},
	{"sqli", sqlInjection},
	{"sqli_blind", sqlInjection},
	{"upload", fileUpload},
	{"weak_id", weakSession},
	{"xss_d", crossSiteScripting},
	{"xss_r", crossSiteScripting},
	{"xss_s", crossSiteScripting},
}

// A moduleCase is what was told of a module at a level.
type moduleCase struct {
	Module, Level string
	Told          []flaw
}

// measureDVWA scans DVWA at the levels low, where every module is vulnerable, and impossible,
// where none is. The second one measures false positives on code that resembles the vulnerable
// one.
func measureDVWA(ctx context.Context, b *bench) ([]table.Row, error) {
	var rows []table.Row
	var cases []moduleCase
	// The levels between have partial defences and no agreed truth.
	for _, level := range []string{"low", "impossible"} {
		got, err := b.attackDVWA(ctx, level)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", level, err)
		}
		var t tally
		for _, m := range modules {
			told := m.reportedFlaws(got)
			// At the level impossible each module is a case without a flaw.
			t.addCase(m.name, level == "low", len(told) > 0)
			cases = append(cases, moduleCase{Module: m.name, Level: level, Told: told})
		}
		if level == "low" {
			rows = append(rows, table.Row{Measure: "DVWA low, signed in: vulnerable " +
				"modules found", Floor: fmt.Sprintf("all %d", t.Vulnerable),
				Measured: fmt.Sprint(t.Found), Met: table.Verdict(t.Found == t.Vulnerable), Note: got.describeCost() +
					listNames("; missed: ", t.Missed)})
		} else {
			rows = append(rows, table.Row{Measure: "DVWA impossible, signed in: modules with a finding", Floor: "0",
				Measured: fmt.Sprint(t.Wrong), Met: table.Verdict(t.Wrong == 0), Note: got.describeCost() +
					listNames("; told: ", t.Alarms)})
		}
	}
	return rows, table.Keep(filepath.Join(b.out, "dvwa.jsonl"), cases)
}

// attackDVWA scans the application at a level. What ends the session, changes the
// password of the user or shows the sources is left out, as a tester would.
func (b *bench) attackDVWA(ctx context.Context, level string) (*scan, error) {
	s, err := b.startTarget(ctx, "dvwa", "SECURITY="+level)
	if err != nil {
		return nil, err
	}
	defer s.stopTarget()
	return b.scanServer(ctx, s,
		run{command: "dast", name: "dvwa-" + level, plan: plan{URL: s.baseAddress() + "/", Profile: "full",
			// The first page redirects to the sign-in without a session.
			Seeds: []string{s.baseAddress() + "/index.php"},
			Exclude: []string{"*logout*", "/setup.php*", "/security.php*", "/vulnerabilities/captcha/*",
				"*view_source*",
				"*view_help*", "/instructions.php*"},
			Identities: []any{s.dvwaUser("admin", "password", 2), s.dvwaUser("gordonb", "abc123", 1)}}})
}

// dvwaUser is an identity of DVWA; users with a higher role are shown more.
func (s *server) dvwaUser(name, password string, role int) map[string]any {
	return map[string]any{"name": name, "role": role, "form": map[string]any{"url": s.baseAddress() + "/login.php",
		"user": name, "password": password},
		// The marker is a text of a page that only a signed-in user sees: the scan detects a lost
		// session by it.
		"marker": map[string]any{"url": s.baseAddress() + "/index.php", "in": "logout\\.php"}}
}

// reportedFlaws returns the flaws of the module's kind that are told of its pages.
func (m module) reportedFlaws(s *scan) []flaw {
	var out []flaw
	for _, f := range s.Flaws {
		if strings.HasPrefix(f.Path, "/vulnerabilities/"+m.name+"/") && m.class.includesFlaw(f) {
			out = append(out, f)
		}
	}
	return out
}
