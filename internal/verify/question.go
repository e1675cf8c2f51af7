package verify

import (
	"net/http"
	"strings"
)

// A question is what an issuer is asked: reading only, and nothing that costs or
// changes.
type question struct {
	rules   string // behind "secrets/credentials/"
	method  string
	address string
	headers map[string]string // {} stands for the credential
	yes, no string            // what the body of an answer 200 holds; empty: the status decides
	// elsewhere tells that the credential may belong to another installation of the
	// issuer's software, so that a refusal says nothing.
	elsewhere bool
}

func bearer(more ...string) map[string]string {
	h := map[string]string{"Authorization": "Bearer {}", "Accept": "application/json"}
	for i := 0; i+1 < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// questions are those that the issuers document for finding out who one is.
var questions = []question{
	{rules: "github-pat github-oauth github-fine-grained-pat", method: http.MethodGet,
		address: "https://api.github.com/user", headers: bearer("X-GitHub-Api-Version", "2022-11-28")},
	{rules: "gitlab-pat gitlab-pat-routable gitlab-pat-routable-versioned", method: http.MethodGet,
		address: "https://gitlab.com/api/v4/personal_access_tokens/self",
		headers: map[string]string{"PRIVATE-TOKEN": "{}"}, elsewhere: true},
	{rules: "slack-bot-token slack-user-token slack-legacy-bot-token slack-legacy-token", method: http.MethodPost,
		address: "https://slack.com/api/auth.test", headers: bearer(), yes: `"ok":true`,
		no: "invalid_auth account_inactive token_revoked token_expired not_authed"},
	{rules: "stripe-access-token", method: http.MethodGet, address: "https://api.stripe.com/v1/account",
		headers: bearer()},
	{rules: "sendgrid-api-token", method: http.MethodGet, address: "https://api.sendgrid.com/v3/scopes",
		headers: bearer()},
	{rules: "npm-access-token", method: http.MethodGet, address: "https://registry.npmjs.org/-/whoami",
		headers: bearer()},
	{rules: "openai-api-key", method: http.MethodGet, address: "https://api.openai.com/v1/models", headers: bearer()},
	{rules: "anthropic-api-key", method: http.MethodGet, address: "https://api.anthropic.com/v1/models",
		headers: map[string]string{"X-Api-Key": "{}", "Anthropic-Version": "2023-06-01"}},
	{rules: "digitalocean-pat digitalocean-access-token", method: http.MethodGet,
		address: "https://api.digitalocean.com/v2/account", headers: bearer()},
	{rules: "heroku-api-key heroku-api-key-v2", method: http.MethodGet, address: "https://api.heroku.com/account",
		headers: bearer("Accept", "application/vnd.heroku+json; version=3")},
	{rules: "huggingface-access-token", method: http.MethodGet, address: "https://huggingface.co/api/whoami-v2",
		headers: bearer()},
	{rules: "notion-api-token", method: http.MethodGet, address: "https://api.notion.com/v1/users/me",
		headers: bearer("Notion-Version", "2022-06-28")},
	{rules: "postman-api-token", method: http.MethodGet, address: "https://api.getpostman.com/me",
		headers: map[string]string{"X-Api-Key": "{}"}},
	{rules: "vercel-personal-access-token vercel-api-token", method: http.MethodGet,
		address: "https://api.vercel.com/v2/user", headers: bearer()},
}

// questionFor returns the question for credentials that the rule finds, or nil.
func questionFor(ruleID string) *question {
	id, ok := strings.CutPrefix(ruleID, "secrets/credentials/")
	if !ok {
		return nil
	}
	for i := range questions {
		for _, rule := range strings.Fields(questions[i].rules) {
			if rule == id {
				return &questions[i]
			}
		}
	}
	return nil
}
