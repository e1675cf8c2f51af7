package credentials

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/betterleaks/betterleaks/config"
	expressions "github.com/betterleaks/betterleaks/regexp"
)

// This file holds rules of our own for credentials that the rule set has none
// for. Each describes the form that the issuer documents, or that its programs
// print: a beginning or a mark within that nothing else has, and the alphabet and
// the length of the rest.

// A credentialForm is the form of a credential.
type credentialForm struct {
	id, description string
	name            string // for people; empty: made of the id
	words           string // one of these stands in the text, in lower case
	expression      string // the secret is its group
	bits            float64
}

// uuid matches a UUID in its usual form (RFC 9562, section 4).
const uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

// forms are the rules. bits is the entropy per character that the secret has at
// least: people write aaaa… and 1234… in examples.
var forms = []credentialForm{
	// Microsoft marks the keys of Azure with four letters of the service at a fixed place.
	{"azure-devops-token", "A personal access token of Azure DevOps.", "", "azdo",
		`\b([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})\b`, 3.5},
	{"azure-ai-key", "A key of Azure OpenAI or another service of Azure AI.", "", "jqqj99",
		`\b([A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26})\b`, 3.5},
	{"azure-resource-key", "A key of a resource in Azure: a function, a search service, a database, a queue, a hub, " +
		"a registry or an account of storage.", "",
		"azfu azse azca acdb aiot +asb +aeh +ast +aba +acr apim",
		`(?:^|[^A-Za-z0-9+/_-])([A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==|[A-Za-z0-9]{42}(?:AzSe|\+ACR)[A-D][A-Za-z0-9]{5}|[A-Za-z0-9+/]{76}(?:ACDb|\+ASt|\+ABa|APIM)[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{33}(?:AIoT|AzCa|\+ASb|\+AEh)[A-Za-z0-9+/]{5}[A-Za-z0-9+/]=)`, 3.5},
	{"azure-sas-url", "An address of Azure storage with a signature that opens it.", "", "sig=",
		`[?&;]s[vp]=[\w-]{1,12}&[\w%&=.:-]{1,300}?\bsig=([A-Za-z0-9%+/]{43,80}(?:%3[dD]|=))`, 3.5},
	{"azure-workflow-url", "An address that starts a workflow of Azure or Power Automate for whoever " +
		"knows it.", "", "logic.azure.com api.powerplatform.com",
		`https://[\w.-]{4,120}\.(?:logic\.azure\.com|api\.powerplatform\.com)(?::443)?/[\w/.-]{1,300}\?[\w&=%./-]{0,200}\bsig=([\w-]{43})`, 3.5},
	{"microsoft-teams-webhook-office", "A webhook of Microsoft Teams: whoever knows it can post.", "", "/webhook/",
		`https://outlook\.office(?:365)?\.com/webhook/` + uuid + `@` + uuid + `/IncomingWebhook/([0-9a-f]{32}/` + uuid +
			`)`, 0},
	{"discord-webhook-url", "A webhook of Discord: whoever knows it can post.", "", "/webhooks/",
		`https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{17,20}/([\w-]{60,80})`, 3.5},
	{"discord-bot-token", "The token of a bot of Discord.", "", "discord client.login " +
		"bot_token", `\b([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})\b`, 4},
	{"telegram-bot-token", "The token of a bot of Telegram.", "", ":aa",
		`(?:^|[^0-9A-Za-z]|bot)(\d{8,10}:AA[A-Za-z0-9_-]{32,33})(?:[^\w-]|$)`, 3.5},
	{"bitbucket-data-center-token", "An access token of Bitbucket Data Center.", "", "bbdc-",
		`\b(BBDC-[A-Za-z0-9+/@_-]{40,50})(?:[^A-Za-z0-9+/@_-]|$)`, 3.5},
	{"nuget-api-key", "A key of nuget.org.", "", "oy2", `\b(oy2[a-z0-9]{43})\b`, 3.5},
	{"doppler-service-token", "A token of Doppler for services, the command line, users' directories or audits.", "",
		"dp.",
		`\b(dp\.(?:st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})\b`, 3.5},
	{"dependency-track-api-key", "A key of Dependency-Track.", "", "odt_",
		`\b(odt_(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32,40})\b`, 3.5},
	{"new-relic-license-key", "A licence key of New Relic, with which data is sent in.", "", "nral",
		`\b([a-z0-9]{36}NRAL)\b`, 2.5},
	{"twitch-stream-key", "The key of a stream on Twitch.", "", "live_", `\b(live_\d{6,12}_[A-Za-z0-9]{30})\b`, 3.5},
	{"truenas-api-key", "A key of TrueNAS.", "", "api_key truenas freenas", `["'](\d{1,4}-[A-Za-z0-9]{64})["']`, 4},
	{"blynk-device-token", "The token of a device at Blynk.", "", "blynk",
		`(?i)blynk\.(?:cloud|io|cc)[^\s"'<>]{0,80}[?&]token=([\w-]{32})`, 3.5},
	{"thingsboard-device-token", "The token of a device at ThingsBoard.", "", "thingsboard",
		`thingsboard\.(?:cloud|io)(?::\d{1,5})?/api/v1/([A-Za-z0-9]{20})/`, 3},
	{"kubernetes-bootstrap-token", "A token with which machines join a cluster.", "", "token",
		`(?i)(?:bootstrap[-_.]?token|--(?:discovery-)?token)["'\s:=]{1,5}([a-z0-9]{6}\.[a-z0-9]{16})\b`, 3},
	{"tavily-api-key", "A key of Tavily.", "", "tvly-", `\b(tvly-(?:dev-|prod-)?[A-Za-z0-9]{32})\b`, 3.5},
	{"gcp-oauth-access-token", "An access token of Google; it lives for an hour.", "", "ya29.",
		`\b(ya29\.[\w-]{50,500})`,
		4},
	{"gcp-oauth-client-secret", "The secret of an OAuth client of Google.", "", "gocspx-",
		`\b(GOCSPX-[\w-]{28})(?:[^\w-]|$)`, 3.5},
	{"gcp-cloud-messaging-key", "The server key of Firebase Cloud Messaging.", "", ":apa91b",
		`\b(AAAA[\w-]{7}:APA91b[\w-]{134})(?:[^\w-]|$)`, 4},
	{"aws-session-token", "A session token of AWS.", "", "fwogzxivyxdz fqogzxivyxdz iqojb3jpz2lux2vj",
		`\b((?:F[wQ]oGZXIvYXdz|IQoJb3JpZ2luX2Vj)[A-Za-z0-9+/]{100,1000}={0,2})`, 4},
	{"aws-marketplace-token", "A token of Amazon's marketplace web service.", "", "amzn.mws.", `\b(amzn\.mws\.` + uuid +
		`)\b`, 0},
	{"amazon-login-client-secret", "The secret of a client of Login with Amazon.", "", "amzn1.oa2-cs.",
		`\b(amzn1\.oa2-cs\.v1\.[0-9a-f]{64})\b`, 3},
	{"braintree-access-token", "An access token of Braintree.", "", "access_token$production$",
		`(access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32})\b`, 3},
	{"square-oauth-secret", "A token or an OAuth secret of Square.", "", "sq0",
		`\b(sq0(?:atp-[\w-]{22}|csp-[\w-]{43}))(?:[^\w-]|$)`, 3.5},
	{"langfuse-secret-key", "A secret key of Langfuse.", "", "sk-lf-", `\b(sk-lf-` + uuid + `)\b`, 0},
	{"resend-api-key", "A key of Resend.", "", "re_", `\b(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24})\b`, 3.8},
	{"firecrawl-api-key", "A key of Firecrawl.", "", "fc-", `\b(fc-[0-9a-f]{32})\b`, 3.2},
	{"e2b-api-key", "A key of E2B.", "", "e2b_", `\b(e2b_[0-9a-f]{40})\b`, 3},
	{"axiom-api-token", "A token of Axiom.", "", "xaat- xapt-", `\b(xa[ap]t-` + uuid + `)\b`, 0},
	{"spectral-api-key", "A key of SpectralOps.", "", "spu-", `\b(spu-[0-9a-f]{32})\b`, 3},
	{"nightfall-api-key", "A key of Nightfall.", "", "nf-", `\b(NF-[A-Za-z0-9]{32})\b`, 3.5},
	{"voiceflow-api-key", "A key of Voiceflow.", "", "vf.", `\b(VF\.(?:DM|WS)\.[0-9a-f]{24}\.[A-Za-z0-9]{16})\b`, 3.5},
	{"kerberos-ticket-hash", "A part of a Kerberos ticket from which the password is found by trying.", "", "$krb5",
		`(\$krb5(?:asrep|tgs|pa)\$\d{1,2}\$[^\s"'<>]{0,120}[$:]?[0-9a-f]{24,64}\$[0-9a-f]{100,1000})`, 0},
	{"password-hash", "The hash of a password, from which the password is found by trying.", "",
		"$1$ $5$ $6$ $y$ $8$ " +
			"$9$ $argon2",
		`(?:^|[\s"':=,>|])(\$(?:1\$[./\w]{1,8}\$[./\w]{22}|2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|5\$(?:rounds=\d{1,9}\$)?[./\w]{1,16}\$[./\w]{43}|6\$(?:rounds=\d{1,9}\$)?[./\w]{1,16}\$[./\w]{86}|y\$[./\w]{1,8}\$[./\w]{1,86}\$[./\w]{43}|[89]\$[./\w]{14}\$[./\w]{43}|argon2(?:i|d|id)\$v=\d{1,3}\$m=\d{1,9},t=\d{1,9},p=\d{1,9}\$[\w+/]{8,90}\$[\w+/]{16,130}))(?:[\s"':,<|]|$)`, 3.5},
	{"psexec-password", "The password of a command that runs on another machine.", "", "psexec",
		`(?i)\bpsexec(?:64)?(?:\.exe)?\b[^\r\n]{0,200}?\s-u\s+\S{1,80}\s+-p\s+["']?([^\s"'%$<>\[\]{}]{3,64})`, 0},
	{"vmware-password", "The password of a connection to a server of VMware.", "", "connect-viserver",
		`(?i)\bConnect-VIServer\b[^\r\n]{0,200}?-Password\s+["']?([^\s"'$<>\[\]{}]{4,64})`, 0},
	{"powershell-password", "A password in the clear that a script makes a SecureString of.", "",
		"convertto-securestring",
		`(?i)\bConvertTo-SecureString\s+(?:-AsPlainText\s+)?(?:-Force\s+)?(?:-String\s+)?["']([^"'$\r\n]{4,64})["']\s+-(?:AsPlainText|Force)`, 0},
	{"netrc-password", "The password of a line in the format of netrc(5).", "Password in a netrc line", "machine",
		`\bmachine\s+[\w.-]{3,100}\s+login\s+\S{1,100}\s+password\s+["']?([^\s"'$<>{}\[\]]{6,200})`, 0},
	{"npm-registry-token", "A token of a registry of npm.", "npm registry token", "_authtoken",
		`(?i)//[\w.:/-]{3,120}/?:_authToken\s*=\s*["']?([\w.=+/-]{20,200})`, 2.5},
	{"network-credential-password", "A password that a program of .NET signs in with.", "Password of a .NET credential",
		"networkcredential(",
		`NetworkCredential\(\s*@?"[^"\r\n]{1,100}"\s*,\s*@?"([^"\r\n]{4,100})"`, 0},
	{"sshpass-password", "The password of a command that signs in to another machine.", "", "sshpass",
		`\bsshpass\s+-p\s*["']?([^\s"'$<>{}()]{4,64})`, 0},
	{"directory-password", "The password with which a program signs in to a directory.", "", "directoryentry",
		`(?i)\bDirectoryEntry\(\s*@?"LDAPS?://[^"\r\n]{1,200}"\s*,\s*@?"[^"\r\n]{1,100}"\s*,\s*@?"([^"\r\n]{4,64})"`,
		0},
}

// addOwnForms adds the rules of our own to those of the rule set.
func addOwnForms(cfg *config.Config) (*config.Config, error) {
	c := *cfg
	c.Rules, c.Keywords, c.KeywordToRules = maps.Clone(cfg.Rules), maps.Clone(cfg.Keywords),
		maps.Clone(cfg.KeywordToRules)
	c.OrderedRules = slices.Clone(cfg.OrderedRules)
	for _, f := range forms {
		if _, known := c.Rules[f.id]; known {
			return nil, fmt.Errorf("rule %s is in the rule set already", f.id)
		}
		re, err := expressions.Compile(f.expression)
		if err != nil {
			return nil, fmt.Errorf("compile rule %s: %w", f.id, err)
		}
		r := config.Rule{RuleID: f.id, Description: f.description, Regex: re, SecretGroup: 1,
			Keywords: strings.Fields(f.words)}
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("add a rule: %w", err)
		}
		c.Rules[f.id] = r
		c.OrderedRules = append(c.OrderedRules, f.id)
		for _, w := range r.Keywords {
			c.Keywords[w] = struct{}{}
			c.KeywordToRules[w] = append(slices.Clone(c.KeywordToRules[w]), f.id)
		}
	}
	return &c, nil
}

// formOf finds the form of a rule of ours.
var formOf = func() map[string]*credentialForm {
	m := map[string]*credentialForm{}
	for i := range forms {
		m[forms[i].id] = &forms[i]
	}
	for _, f := range slices.Concat(tokenForms, knownForms) {
		m[f.id] = &credentialForm{id: f.id, name: f.name, bits: f.minBits()}
	}
	return m
}()
