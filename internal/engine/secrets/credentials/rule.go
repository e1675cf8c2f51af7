package credentials

import (
	"strings"

	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
)

// This file describes the rules for people.

// credentialClass is a kind of credential, by what its loss costs.
type credentialClass struct {
	ids        *lazyregexp.Regexp // of rules
	severity   finding.Severity
	confidence finding.Confidence
	cwe        string
	owasp      string
	remedy     string
}

const (
	authentication = "A07:2021" // Identification and Authentication Failures
	cryptography   = "A02:2021" // Cryptographic Failures
)

// classes are tried in order; the last one takes every rule.
var classes = []credentialClass{
	{lazyregexp.New(`^(private-key|age-secret-key|pkcs12-file|polymarket-private-key)$`),
		finding.Critical, finding.Certain, "CWE-321", cryptography,
		"Make a new key pair, replace the public part or the certificate everywhere it is trusted, and have the old " +
			"certificate revoked."},
	{lazyregexp.New(`-hash$`),
		finding.Medium, finding.Likely, "CWE-522", "A04:2021",
		"Have the password changed, and keep hashes out of files that many read."},
	{lazyregexp.New(`^(azure-sas-url|azure-workflow-url|discord-webhook-url|thingsboard-device-token|blynk-device-token|gcp-oauth-access-token|aws-session-token|new-relic-license-key|kubernetes-bootstrap-token)$`),
		finding.High, finding.Likely, "CWE-798", authentication,
		"Revoke the credential at its issuer, and look for its use since the commit; of one that has run out, find " +
			"out how it got into the file."},
	{lazyregexp.New(`^(generic-api-key|assigned-token|curl-auth-header|curl-auth-user)$`),
		finding.Medium, finding.Uncertain, "CWE-798", authentication,
		"Find out what the value opens. If it is a secret, have it replaced at the place that issued it."},
	{lazyregexp.New(`(password|connection-string|mongodb|sensitive-url|kubernetes-secret)`),
		finding.High, finding.Likely, "CWE-798", authentication,
		"Change the password on the server, and give every user and program its own."},
	{lazyregexp.New(`(client-id|access-id|-pub-key|public-key|browser-api|project-api-key|feature-flag-client|client-sdk|mobile-sdk|-user-api-id|easypost-test|datagov|nytimes|openweather|contentful-delivery)`),
		finding.Low, finding.Likely, "CWE-798", authentication,
		"Check whether the value may be public. If not, have it replaced at the place that issued it."},
	{lazyregexp.New(`^(jwt|jwt-base64|gitlab-feed-token|gitlab-incoming-mail-token|gitter|slack-webhook-url|microsoft-teams-webhook)`),
		finding.Medium, finding.Likely, "CWE-798", authentication,
		"Revoke the token at its issuer; where tokens cannot be revoked, replace the key that signs them."},
	{lazyregexp.New(`^(aws|gcp|azure|alibaba|digitalocean|github|gitlab|bitbucket-client-secret|stripe|vault|hashicorp|kubernetes|openshift|docker|npm|pypi|rubygems|crates|heroku|okta|1password|doppler|pulumi|terraform|scaleway|ovh|ibm|exoscale|flyio|cloudflare|databricks|snowflake|yandex-aws|artifactory|openai|anthropic)`),
		finding.Critical, finding.Certain, "CWE-798", authentication,
		"Revoke the credential at its issuer now, issue a new one with the least rights that will do, and read the " +
			"issuer's log for its use since the commit."},
	{lazyregexp.New(``),
		finding.High, finding.Certain, "CWE-798", authentication,
		"Revoke the credential at its issuer, issue a new one with the least rights that will do, and look for its " +
			"use since the commit."},
}

const why = `

Whoever can read the file can use the credential: everybody with the repository, its copies, its backups, the packages and images built from it. Deleting the line does not help, because the history keeps it.`

const remedyRest = `

Then take the value out of the file: read it from the environment or from a secret store when the program runs, and keep only its name in the source. Rewriting the history is worth the trouble only after the credential is dead.`

// prefix begins the id of every rule.
const prefix = "secrets/credentials/"

// describeRule returns the rule for people of a rule of the rule set.
func describeRule(id, description string) *finding.Rule {
	name := ruleTitle(id)
	c := classOf(id)
	r := &finding.Rule{
		ID:               prefix + id,
		Analysis:         finding.Secret,
		Name:             name,
		ShortDescription: name + " in a file",
		Description:      strings.TrimSpace(description) + why,
		HowToPrevent:     c.remedy + remedyRest,
		CWE:              []string{c.cwe},
		OWASP:            []string{c.owasp},
		Severity:         c.severity,
		Confidence:       c.confidence,
	}
	r.AddReferences()
	return r
}

func classOf(id string) credentialClass {
	for _, c := range classes {
		if c.ids.MatchString(id) {
			return c
		}
	}
	panic("the last class takes every rule")
}

// isGuessable reports whether the rule finds what people make up, so that a hash
// of it could be found by trying.
func (e *engine) isGuessable(id string) bool {
	if r := e.rules[id]; e.formats[id] {
		return r.Confidence != finding.Certain || r.CWE[0] != "CWE-798" && r.CWE[0] != "CWE-321"
	}
	return strings.Contains(id, "password") || classOf(id).confidence != finding.Certain
}

// spelling gives words of rule names as they are written.
var spelling = map[string]string{
	"api": "API", "aws": "AWS", "gcp": "GCP", "jwt": "JWT", "oauth": "OAuth", "id": "ID", "ids": "IDs", "url": "URL",
	"ci":   "CI",
	"cicd": "CI/CD", "sts": "STS", "sdk": "SDK", "ai": "AI", "ad": "AD", "pat": "personal access token",
	"pkcs12": "PKCS #12",
	"github": "GitHub", "gitlab": "GitLab", "npm": "npm", "pypi": "PyPI", "rubygems": "RubyGems",
	"ptt": "pipeline trigger token",
	"rrt": "runner registration token", "openai": "OpenAI", "mongodb": "MongoDB", "digitalocean": "DigitalOcean",
	"dockerhub": "Docker Hub",
	"hashicorp": "HashiCorp", "tf": "Terraform", "ibm": "IBM", "ovh": "OVH", "nuget": "NuGet", "scim": "SCIM",
	"linkedin":    "LinkedIn",
	"huggingface": "Hugging Face", "sendgrid": "SendGrid", "circleci": "CircleCI", "travisci": "Travis CI",
	"droneci": "Drone CI",
	"posthog": "PostHog", "planetscale": "PlanetScale", "flyio": "Fly.io", "sonar": "Sonar", "pub": "public",
	"yaml": "YAML",
	"sas":  "SAS", "psexec": "PsExec", "vmware": "VMware", "truenas": "TrueNAS", "oauth2": "OAuth 2", "e2b": "E2B",
	"powershell": "PowerShell",
	"tailscale":  "Tailscale", "newrelic": "New Relic", "influxdb": "InfluxDB", "servicebus": "Service Bus", "v1": "v1",
	"v2":    "v2",
	"jfrog": "JFrog", "curl": "curl", "us": "US", "eu": "EU", "ca": "CA", "personnal": "personal",
	"launchdarkly": "LaunchDarkly",
}

// names gives rules whose id makes no good name theirs.
var names = map[string]string{
	"generic-api-key": "Generic secret", "pkcs12-file": "PKCS #12 key store", "jwt": "JSON Web Token",
	"jwt-base64":             "JSON Web Token in Base64",
	"kubernetes-secret-yaml": "Kubernetes Secret", "curl-auth-user": "Password of a curl command",
	"curl-auth-header": "Token of a curl command",
	"github-oauth":     "GitHub OAuth token", "crates-io-api-key": "crates.io API key",
	"hashicorp-tf-password":   "Password in Terraform",
	"github-fine-grained-pat": "GitHub fine-grained personal access token", "gitlab-pat-routable": "GitLab routable " +
		"personal access token",
	"gitlab-pat-routable-versioned": "GitLab routable personal access token", "aws-access-token": "AWS access key",
	"aws-amazon-bedrock-api-key-long-lived":  "Amazon Bedrock long-lived API key",
	"aws-amazon-bedrock-api-key-short-lived": "Amazon Bedrock short-lived API key",
	"gcp-service-account":                    "Google Cloud service account key",
	"gcp-application-default-credentials": "Google Cloud " +
		"application default credentials",
	"gcp-api-key": "Google Cloud API key", "nuget-config-password": "Password in NuGet configuration",
}

var variant = lazyregexp.New(`\.\d+$`)

// ruleTitle makes a name of a rule's id: "okta-access-token" is "Okta access token".
func ruleTitle(id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	words := strings.Split(variant.ReplaceAllString(id, ""), "-")
	for i, w := range words {
		switch s, ok := spelling[w]; {
		case ok:
			words[i] = s
		case i == 0:
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}
