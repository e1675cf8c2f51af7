package exposedfiles

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/finding"
)

// TestSigns tells each file from pages that only have its name or speak of it.
func TestSigns(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range []struct {
		name      string
		real, not []string
	}{
		{".git/HEAD", []string{"ref: refs/heads/main\n", strings.Repeat("0a", 20) + "\n"},
			[]string{"ref: none", "<html>ref: refs/heads/main", "0a0a", "see ref: refs/heads/main"}},
		{".svn/wc.db", []string{"SQLite format 3\x00rest"}, []string{"SQLite format 3", "x SQLite format 3\x00"}},
		{".hg/requires", []string{"dotencode\nfncache\nrevlogv1\n"}, []string{"a store of things", "store of"}},
		{".bzr/README", []string{"This is a Bazaar control directory.\n"}, []string{"About: This is a Bazaar"}},
		{".env", []string{"A=1\nB=2\n", "# c\n\nexport APP_KEY=x\n# d\nDB=\nC=3"},
			[]string{"A=1\n", "<a href=x>\nB=2\n", "a: 1\nb: 2\n", "A=<b>\nB=2\n", "1=2\n3=4\n"}},
		{".htpasswd", []string{"jane:$apr1$abcd$0123456789\n", "a@b.c:$2y$05$abcdefghijklmnop\n", "joe:{SHA}abcdef=\n"},
			[]string{"jane:secret\n", "jane: $apr1$x y\n", "see $apr1$"}},
		{".aws/credentials", []string{"[default]\naws_access_key_id = A\naws_secret_access_key = B\n"},
			[]string{"use aws_secret_access_key", "aws_access_key_id = A\n"}},
		{"web.config", []string{"<?xml?><configuration>\n<system.web>", "<configuration x='1'><appSettings>"},
			[]string{"<configuration></configuration>", "<system.web>"}},
		{"WEB-INF/web.xml", []string{"<web-app version='3'>\n<servlet>x"}, []string{"<web-app></web-app>"}},
		{".DS_Store", []string{"\x00\x00\x00\x01Bud1\x00"}, []string{"Bud1", "<html>"}},
		{"backup.sql", []string{"-- MySQL dump 10.13\n", "CREATE TABLE a (b int);\nINSERT INTO a VALUES (1);",
			"-- PostgreSQL database dump\n"}, []string{"CREATE TABLE a (b int);", "text -- MySQL dump", "INSERT INTO a"}},
		{"docker-compose.yml", []string{"version: '3'\nservices:\n  web:\n    image: x\n"},
			[]string{"services: none\n", "services:\n  web: {}\n"}},
		{"storage/logs/laravel.log", []string{"[2026-01-02 03:04:05] production.ERROR: x\n"},
			[]string{"[2026-01-02] x", "production.ERROR: x"}},
		{"console", []string{"<script>CONSOLE_MODE = true,</script>"}, []string{"<h1>Console</h1>"}},
		{"h2-console/", []string{"<title>H2 Console</title>"}, []string{"the H2 Console"}},
		{"debug/pprof/", []string{"<p>Types of profiles available:"}, []string{"profiles"}},
		{"debug/vars", []string{`{"cmdline": ["x"], "memstats": {}}`}, []string{`{"memstats": 1}`, `x {"cmdline": 1}`}},
		{"actuator/env", []string{`{"propertySources" : [{"name":"x"}]}`}, []string{`{"propertySources": {}}`}},
		{"elmah.axd", []string{"<title>Error log for shop</title>"}, []string{"<title>Error</title>"}},
		{"trace.axd", []string{"<td><h1>Application Trace</h1>"}, []string{"<h1>Trace</h1>"}},
		{"info.php", []string{"<title>PHP 8.1.2-1ubuntu - phpinfo()</title>", "<title>phpinfo()</title>"},
			[]string{"phpinfo()", "<title>PHP</title>"}},
		{"server-status", []string{"<h1>Apache Server Status for a</h1>"}, []string{"<h1>Status</h1>"}},
		{"nginx_status", []string{"Active connections: 3 \nserver accepts handled requests\n 1 1 1"},
			[]string{"Active connections: many", "x Active connections: 3 server accepts handled requests"}},
		{"metrics", []string{"# HELP a_total A.\n# TYPE a_total counter\na_total{b=\"c\"} 1.5e+03\n"},
			[]string{"# HELP a_total A.\n", "# Title\na 1\n", "a_total 1\n"}},
		{"phpmyadmin/", []string{"<title>phpMyAdmin</title><input name=pma_username>"}, []string{"<title>phpMyAdmin</title>"}},
		{"adminer.php", []string{"<title>Login - Adminer</title>"}, []string{"<title>Adminer</title>"}},
		{"_profiler/latest", []string{"<title>Symfony Profiler</title>"}, []string{"Symfony"}},
		{"telescope/requests", []string{"<title>Telescope - shop</title><script>window.Telescope = {}"},
			[]string{"<title>Telescope shop</title>"}},
	} {
		at := slices.IndexFunc(files, func(f file) bool { return f.name == c.name })
		if at < 0 {
			t.Errorf("nobody asks for %s", c.name)
			continue
		}
		tested[c.name] = true
		f := &files[at]
		answer := func(status int, text string) bool {
			return f.matchesFile(&message.Response{Status: status, Header: http.Header{}, Body: []byte(text)}, f.sign)
		}
		for _, text := range c.real {
			if !answer(200, text) {
				t.Errorf("%s is not known by %q", c.name, text)
			}
			if answer(404, text) || answer(500, text) || answer(302, text) {
				t.Errorf("%s is told of a response that is an error", c.name)
			}
		}
		for _, text := range append(c.not, "", "<html><title>Shop</title>not found</html>") {
			if answer(200, text) {
				t.Errorf("%s is told of %q", c.name, text)
			}
		}
	}
	for _, f := range files {
		if !tested[f.name] && !slices.Contains([]string{".env.production", "dump.sql", "database.sql", "phpinfo.php",
			"backup.zip", "actuator/heapdump", "manager/html"}, f.name) { // of the same sign, or told by headers
			t.Errorf("%s has no test", f.name)
		}
	}
}

// TestHeaderSigns tells large files by their headers, and a sign-in of Tomcat by its challenge.
func TestHeaderSigns(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		want   bool
	}{
		{"backup.zip", 200, http.Header{"Content-Type": {"application/zip"}}, true},
		{"backup.zip", 200, http.Header{"Content-Type": {"application/x-zip-compressed"}}, true},
		{"backup.zip", 200, http.Header{"Content-Type": {"text/html"}}, false},
		{"backup.zip", 404, http.Header{"Content-Type": {"application/zip"}}, false},
		{"backup.zip", 401, http.Header{"Content-Type": {"application/zip"}}, false},
		{"actuator/heapdump", 200, http.Header{"Content-Type": {"application/octet-stream"}}, true},
		{"actuator/heapdump", 200, http.Header{"Content-Type": {"application/json"}}, false},
		{"manager/html", 401, http.Header{"Www-Authenticate": {`Basic realm="Tomcat Manager Application"`}}, true},
		{"manager/html", 401, http.Header{"Www-Authenticate": {`Basic realm="Shop"`}}, false},
		{"console", 401, http.Header{"X": {"CONSOLE_MODE = true"}}, false},
	} {
		f := &files[slices.IndexFunc(files, func(f file) bool { return f.name == c.name })]
		if got := f.matchesFile(&message.Response{Status: c.status, Header: c.header}, f.sign); got != c.want {
			t.Errorf("%s, %d with %v: %t", c.name, c.status, c.header, got)
		}
	}
}

// TestSourceSign tells the source of a program from what it prints.
func TestSourceSign(t *testing.T) {
	for text, want := range map[string]bool{"<?php echo 1;": true, " \n<?= $x ?>": true, "<%@ page language='java' %>": true,
		"#!/usr/bin/perl\n": true, "<!-- a comment -->\n<?php": true, "b0VIM 8.0": true, "<% x %>": true,
		"<html><?php": false, "<?xml version='1.0'?>": false, "echo 1": false, "#!/bin/sh": false} {
		if got := source.MatchString(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestEvidenceWithoutValues keeps the names of settings, and none of their values.
func TestEvidenceWithoutValues(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{".env", "# c\nexport A=s3cret\nB=s3cret\nC=s3cret\n", "# c\nexport A=[redacted]\nB=[redacted]"},
		{".htpasswd", "jane:$apr1$s3cret$s3cret\njoe:x\n", "jane:[redacted]"},
		{".aws/credentials", "[a]\naws_secret_access_key = s3cret\n", "aws_secret_access_key =[redacted]"},
	} {
		f := &files[slices.IndexFunc(files, func(f file) bool { return f.name == c.name })]
		got := string(redactedResponse(&message.Response{Status: 200, Body: []byte(c.body)}, f).Body)
		if strings.Contains(got, "s3cret") || strings.TrimSpace(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	long := &file{rule: copies, sign: dump}
	if got := redactedResponse(&message.Response{Body: []byte("CREATE TABLE a\n" + strings.Repeat("x", 1000) +
		"\nINSERT INTO a")}, long).Body; len(got) != 300 {
		t.Errorf("%d bytes of a copy are shown", len(got))
	}
}

// TestTechnologies asks for files of the technologies that are seen alone.
func TestTechnologies(t *testing.T) {
	content := map[string]string{"/console": "<script>CONSOLE_MODE = true</script>",
		"/phpinfo.php": "<title>phpinfo()</title>", "/elmah.axd": "<title>Error log for a</title>",
		"/actuator/env": `{"propertySources":[]}`}
	const console, info, elmah, actuator = "dast/forgotten/console GET /console", "dast/forgotten/status GET /phpinfo.php",
		"dast/forgotten/console GET /elmah.axd", "dast/forgotten/settings GET /actuator/env"
	for _, c := range []struct {
		name, header, value string
		operation           string
		want                []string
	}{
		{"nothing is known", "", "", "GET /a", []string{console, elmah, actuator, info}},
		{"Python", "Server", "gunicorn", "GET /a", []string{console}},
		{"PHP by a header", "X-Powered-By", "PHP/8.1", "GET /a", []string{info}},
		{"PHP by a cookie", "Set-Cookie", "PHPSESSID=1", "GET /a", []string{info}},
		{"Java by a cookie", "Set-Cookie", "JSESSIONID=1", "GET /a", []string{actuator}},
		{"ASP.NET by an address", "", "", "GET /a.aspx", []string{elmah}},
		{"two of them", "Set-Cookie", "JSESSIONID=1", "GET /a.aspx", []string{elmah, actuator}},
	} {
		got := activescantest.Attack(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.header != "" {
				w.Header().Set(c.header, c.value)
			}
			text, ok := content[r.URL.Path]
			if !ok && !strings.HasPrefix(r.URL.Path, "/a") {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, text)
		}), []*activescan.Rule{Rule}, []string{c.operation})
		t.Run(c.name, func(t *testing.T) { activescantest.Expect(t, got, c.want...) })
	}
}

// TestFindingsOfFiles says what was found and how it is known, with a random name as the control.
func TestFindingsOfFiles(t *testing.T) {
	got := activescantest.Attack(t, http.HandlerFunc(serve), []*activescan.Rule{Rule}, []string{"GET /shop/index.php"})
	at := slices.IndexFunc(got.Findings, func(f finding.Finding) bool {
		return f.Location.Path == "/.git/HEAD" ||
			strings.HasSuffix(f.Live.URL, "/.git/HEAD")
	})
	if at < 0 {
		t.Fatalf("findings %v", got.Findings)
	}
	f := got.Findings[at]
	var notes []string
	for _, e := range f.Live.Exchanges {
		notes = append(notes, e.Note)
	}
	if !slices.Equal(notes, []string{"the file", "another file of it", "a random name beside it"}) ||
		!strings.Contains(f.Message, "/.git/HEAD") || !strings.Contains(f.Live.Exchanges[2].Response, "404") {
		t.Errorf("message %q, notes %q", f.Message, notes)
	}
}
