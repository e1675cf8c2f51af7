package credentials

import (
	_ "embed"
	"strings"

	"merlon/internal/finding"
	"merlon/internal/finding/ruletext"
	"merlon/internal/lazyregexp"
)

// This file describes the rules to users.

//go:embed rules.md
var rulesPage string

// texts describe the classes of credentials.
var texts = ruletext.MustLoad(rulesPage, finding.Rule{ID: "secrets/credentials", Analysis: finding.Secret})

// credentialClass is a kind of credential, by what its loss costs.
type credentialClass struct {
	ids  *lazyregexp.Regexp // of rules
	text *finding.Rule      // {name} is the name of the rule
}

// classes are tried in order; the last one matches every rule.
var classes = []credentialClass{
	{lazyregexp.New(`^(private-key|private-key-base64|age-secret-key|pkcs12-file|polymarket-private-key)$`),
		texts.Get("private-key")},
	{lazyregexp.New(`-hash$`),
		texts.Get("hash")},
	{lazyregexp.New(`^(azure-sas-url|azure-workflow-url|discord-webhook-url|thingsboard-device-token|blynk-device-token|gcp-api-key|gcp-oauth-access-token|aws-session-token|new-relic-license-key|kubernetes-bootstrap-token)$`),
		texts.Get("limited")},
	{lazyregexp.New(`^(generic-api-key|curl-auth-header|curl-auth-user)$`),
		texts.Get("generic")},
	{lazyregexp.New(`(password|connection-string|mongodb|sensitive-url|kubernetes-secret)`),
		texts.Get("password")},
	{lazyregexp.New(`(client-id|access-id|-key-id$|-pub-key|public-key|browser-api|project-api-key|feature-flag-client|client-sdk|mobile-sdk|-user-api-id|easypost-test|datagov|nytimes|openweather|contentful-delivery)`),
		texts.Get("identifier")},
	{lazyregexp.New(`^(jwt|jwt-base64|gitlab-feed-token|gitlab-incoming-mail-token|gitter|slack-webhook-url|microsoft-teams-webhook)`),
		texts.Get("token")},
	{lazyregexp.New(`^(aws|gcp|azure|alibaba|digitalocean|github|gitlab|bitbucket-client-secret|stripe|vault|hashicorp|kubernetes|openshift|docker|npm|pypi|rubygems|crates|heroku|okta|1password|doppler|pulumi|terraform|scaleway|ovh|ibm|exoscale|flyio|cloudflare|databricks|snowflake|yandex-aws|artifactory|openai|anthropic)`),
		texts.Get("platform")},
	{lazyregexp.New(``),
		texts.Get("service")},
}

// prefix begins the id of every rule.
const prefix = "secrets/credentials/"

// describeRule returns the text of a rule of the rule set, which is that of its class. The
// descriptions of the rule set are not used: they name the kind of credential, as the title does.
func describeRule(id string) *finding.Rule {
	r := *classOf(id).text
	r.ID, r.Name = prefix+id, ruleTitle(id)
	name := strings.NewReplacer("{name}", r.Name)
	r.ShortDescription, r.Description = name.Replace(r.ShortDescription), name.Replace(r.Description)
	return &r
}

// classOf returns the class of credentials that a rule is of, by its name.
func classOf(id string) credentialClass {
	for _, c := range classes {
		if c.ids.MatchString(id) {
			return c
		}
	}
	panic("the last class matches every rule")
}

// isGuessable reports whether the rule finds what people make up, so that a hash
// of it could be found by trying.
func (e *engine) isGuessable(id string) bool {
	if r := e.rules[id]; e.formats[id] {
		return r.Confidence != finding.HighConfidence || r.CWE[0] != "CWE-798" && r.CWE[0] != "CWE-321"
	}
	return strings.Contains(id, "password") || classOf(id).text.Confidence != finding.HighConfidence
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
	if f := formOf[id]; f != nil && f.name != "" {
		return f.name
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
