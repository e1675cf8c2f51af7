package credentials

import (
	"slices"
	"strconv"
	"strings"
)

// This file lists tokens that begin with a mark of their issuer. Issuers add the mark so that
// scanners recognize a leaked token (GitHub began with it in 2021), so the form alone is proof:
// no name, no context is needed.
//
// A row is the form as the issuer documents it. Parts in braces are random: a letter for the
// alphabet and how many characters, {A28} or {h32-64}; {u} is a UUID. The rest is literal.

// tokenForm is the form of a token with a mark of its issuer.
type tokenForm struct {
	id, name string
	form     string
	words    string // one of these is in a text with the token; empty: the start of the form is mark enough
}

// A charset tells of each byte whether it is in an alphabet.
type charset [256]bool

// newCharset returns the set of letters, digits or both, and of further characters.
func newCharset(ranges, more string) *charset {
	var c charset
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	for i := range len(more) {
		c[more[i]] = true
	}
	return &c
}

// alphabets are the characters of random parts, by their letter.
var alphabets = map[byte]*charset{
	'A': newCharset("azAZ09", ""), 's': newCharset("az09", ""), 'Z': newCharset("AZ09", ""),
	'h': newCharset("09af", ""), 'H': newCharset("09AF", ""), 'd': newCharset("09", ""),
	'U': newCharset("azAZ09", "_-"), 'B': newCharset("azAZ09", "+/"), 'P': newCharset("azAZ09", "._"),
}

// tokenForms are the rows, by issuer.
var tokenForms = []tokenForm{
	// Source code, packages, builds.
	{"github-installation-jwt", "GitHub installation token", "ghs_{d1-20}_eyJ{U20-800}.{U20-1200}.{U20-700}", ""},
	{"gitlab-workspace-token", "GitLab workspace token", "glwt-{U20-64}", ""},
	{"bitbucket-app-password", "Bitbucket app password", "ATBB{A32}", ""},
	{"bitbucket-repository-token", "Bitbucket repository access token", "ATCTT3xFfGN0{U140-220}={H8}", ""},
	{"packagist-token", "Packagist token", "packagist_{s3}_{h40-80}", ""},
	{"buildkite-agent-token", "Buildkite agent token", "bkct_{A32-64}", ""},
	{"circleci-project-api-token", "CircleCI project token", "CCIPRJ_{A20-24}_{h40}", ""},
	{"sonarqube-token", "SonarQube token", "sq{s1}_{h40}", "sqa_ sqp_ squ_"},
	{"snyk-access-token", "Snyk access token", "snyk_{s3}.{h8}.{U40-120}", "snyk_uat. snyk_sat."},
	{"deepsource-token", "DeepSource token", "dsp_{A40-60}", ""},
	{"socket-api-token", "Socket API token", "sktsec_{U40-80}", ""},
	{"endor-labs-api-key", "Endor Labs API key", "endr+{A16}", ""},
	{"stackhawk-api-key", "StackHawk API key", "hawk.{U20}.{U20}", ""},
	{"jfrog-reference-token", "JFrog reference token", "cmVmdGtu{A56}", ""},
	{"artifactory-encrypted-api-key", "Artifactory API key", "AKCp{A69}", ""},
	{"modrinth-token", "Modrinth token", "mrp_{A60}", ""},
	{"checkly-api-key", "Checkly API key", "cu_{h32}", ""},
	{"percy-token", "Percy project token", "web_{h64}", ""},
	{"kong-access-token", "Kong access token", "kpat_{A52}", ""},
	{"kong-system-access-token", "Kong system account token", "spat_{A52}", ""},
	{"private-key-base64", "Private key in Base64", "LS0tLS1CRUdJTi{B100-12000}", ""},
	// Clouds and hosting.
	{"alibaba-access-key", "Alibaba Cloud access key ID", "LTAI{A20}", ""},
	{"tencent-secret-key-id", "Tencent Cloud secret ID", "AKID{A32}", ""},
	{"volcengine-access-key-id", "Volcengine access key ID", "AKLT{U43}", ""},
	{"yandex-cloud-api-key", "Yandex Cloud API key", "AQVN{U35-38}", ""},
	{"netlify-pat", "Netlify access token", "nfp_{A36}", ""},
	{"vercel-access-token", "Vercel access token", "vc{s1}_{A24-60}", "vcp_ vck_ vci_ vca_ vcr_"},
	{"supabase-secret-key", "Supabase secret key", "sb_secret_{U31}", ""},
	{"flyio-macaroon-token", "Fly.io token", "FlyV1 fm2_{B60-900}", ""},
	{"flyio-org-token", "Fly.io token", "fo1_{U43}", ""},
	{"heroku-platform-key", "Heroku API key", "HRKU-{u}", ""},
	{"planetscale-access-token", "PlanetScale token", "pscale_tkn_{U32-64}", ""},
	{"mongodb-atlas-client-secret", "MongoDB Atlas service account secret", "mdb_sa_sk_{U40}", ""},
	{"elastic-cloud-token", "Elastic Cloud API key", "essu_{B60-120}", ""},
	{"xata-api-key", "Xata API key", "xau_{A40}", ""},
	{"materialize-password", "Materialize app password", "mzp_{h64}", ""},
	{"prefect-service-key", "Prefect service account key", "pnb_{A36}", ""},
	{"dbt-cloud-service-token", "dbt Cloud service token", "dbtc_{U40-60}", ""},
	{"dbt-cloud-personal-token", "dbt Cloud personal token", "dbtu_{U40-60}", ""},
	{"portainer-access-token", "Portainer access token", "ptr_{B43}=", ""},
	{"openshift-access-token", "OpenShift access token", "sha256~{U43}", ""},
	{"cloudflare-user-token", "Cloudflare user API token", "cfut_{A40-60}", ""},
	{"cloudflare-account-token", "Cloudflare account API token", "cfat_{A40-60}", ""},
	{"akamai-client-token", "Akamai EdgeGrid token", "akab-{s16}-{s16}", ""},
	{"aws-appsync-api-key", "AWS AppSync API key", "da2-{s26}", ""},
	{"tailscale-auth-key", "Tailscale key", "tskey-{s3-8}-{A8-24}CNTRL-{A20-40}", ""},
	{"tailscale-node-key", "Tailscale key", "tskey-{s3-8}-{A12-24}-{A24-40}", ""},
	{"ngrok-credential", "ngrok API key", "ak_2{A26}", ""},
	{"onepassword-service-account", "1Password service account token", "ops_eyJ{A200-1500}", ""},
	{"bitwarden-access-token", "Bitwarden Secrets Manager token", "0.{u}.{A30}:{B22}==", "=="},
	{"infisical-service-token", "Infisical service token", "st.{h24}.{h32}.{h32}", ""},
	{"google-oauth-refresh-token", "Google OAuth refresh token", "1//0{U95-110}", ""},
	{"heroku-oauth-token", "Heroku OAuth token", "HRKU-AA{U58}", ""},
	{"aikido-client-key", "Aikido client secret", "AIK_SECRET_{A64}", ""},
	{"adobe-oauth-secret", "Adobe OAuth client secret", "p8e-{U32}", ""},
	{"azure-entra-client-secret", "Microsoft Entra client secret", "{A3}8Q~{U34}", "8Q~"},
	{"azure-entra-application-secret", "Microsoft Entra client secret", "{A3}7Q~{U31}", "7Q~"},
	// Models and data.
	{"deepseek-secret-key", "DeepSeek or Moonshot API key", "sk-{h32}", ""},
	{"llamacloud-api-key", "LlamaCloud API key", "llx-{A48}", ""},
	{"fireworks-api-key", "Fireworks AI API key", "fw_{A22-24}", ""},
	{"elevenlabs-secret-key", "ElevenLabs API key", "sk_{h48}", ""},
	{"jina-api-key", "Jina AI API key", "jina_{h32}{U28}", ""},
	{"voyage-api-key", "Voyage AI API key", "pa-{U43}", ""},
	{"cursor-user-key", "Cursor API key", "key_{h64}", ""},
	{"browserbase-api-key", "Browserbase API key", "bb_live_{U27-40}", ""},
	{"scrapfly-api-key", "Scrapfly API key", "scp-live-{h32}", ""},
	{"helicone-api-key", "Helicone API key", "sk-helicone-{s7}-{s7}-{s7}-{s7}", ""},
	{"retell-api-key", "Retell AI API key", "key_{h28}", ""},
	{"cartesia-api-key", "Cartesia API key", "sk_car_{A22}", ""},
	{"adafruit-io-key", "Adafruit IO key", "aio_{A28}", ""},
	{"ubidots-token", "Ubidots token", "BBFF-{A30}", ""},
	// Payments.
	{"stripe-webhook-secret", "Stripe webhook signing secret", "whsec_{B32-64}", ""},
	{"razorpay-key-id", "Razorpay key ID", "rzp_live_{A14}", ""},
	{"plaid-access-token", "Plaid access token", "access-{s7-11}-{u}", "access-production- access-development- " +
		"access-sandbox-"},
	{"flutterwave-secret", "Flutterwave secret key", "FLWSECK-{s32}-X", ""},
	{"gocardless-access-token", "GoCardless access token", "live_{A40}", ""},
	{"lob-secret-key", "Lob API key", "live_{h35}", ""},
	{"ramp-secret", "Ramp client secret", "ramp_sec_{A48}", ""},
	{"brex-user-token", "Brex user token", "bxt_{A40-60}", ""},
	{"recharge-api-token", "Recharge API token", "sk_{d1}x{d1}_{h64}", ""},
	{"shippo-live-token", "Shippo token", "shippo_live_{h40}", ""},
	{"shippo-live-token", "Shippo token", "shippo_test_{h40}", ""},
	{"mercury-bank-token", "Mercury API token", "secret-token:mercury_production_{s3-10}_{U40-70}", ""},
	{"woocommerce-consumer-secret", "WooCommerce consumer secret", "cs_{h40}", ""},
	{"woocommerce-consumer-key-id", "WooCommerce consumer key", "ck_{h40}", ""},
	// Messages and mail.
	{"mailgun-api-key", "Mailgun API key", "key-{h32}", ""},
	{"mailgun-signing-secret", "Mailgun API key", "{h32}-{h8}-{h8}", "mailgun Mailgun MAILGUN"},
	{"mandrill-api-key", "Mailchimp Transactional API key", "md-{U22}", ""},
	{"mailchimp-key", "Mailchimp API key", "{h32}-us{d1-2}", "-us"},
	{"brevo-smtp-key", "Brevo SMTP key", "xsmtpsib-{h64}-{A16}", ""},
	{"twilio-api-key-id", "Twilio API key SID", "SK{h32}", ""},
	{"twilio-account-key-id", "Twilio account SID", "AC{h32}", ""},
	{"telnyx-api-key", "Telnyx API key", "KEY{H32}_{A22}", ""},
	{"signalwire-api-token", "SignalWire API token", "PT{h48}", ""},
	{"pubnub-secret-key", "PubNub secret key", "sec-c-{B48}", ""},
	{"pubnub-publish-key-id", "PubNub publish key", "pub-c-{u}", ""},
	{"courier-auth-token", "Courier API key", "pk_prod_{Z28}", ""},
	{"onesignal-api-key", "OneSignal API key", "os_v2_app_{s103}", ""},
	{"intercom-access-token", "Intercom access token", "dG9rO{B54}=", ""},
	{"nylas-api-key", "Nylas API key", "nyk_v0_{A64}", ""},
	{"svix-token", "Svix token", "sk_{U32}.{s2}", ""},
	{"liveblocks-secret-key", "Liveblocks secret key", "sk_prod_{U56}", ""},
	{"inngest-signing-key", "Inngest signing key", "signkey-{s4-6}-{h64}", ""},
	{"zoho-oauth-token", "Zoho OAuth token", "1000.{h32}.{h32}", ""},
	// Teams, sales, content, telemetry.
	{"airtable-personal-token", "Airtable personal access token", "pat{A14}.{h64}", ""},
	{"clickup-api-token", "ClickUp API token", "pk_{d6-10}_{Z32}", ""},
	{"contentful-personal-token", "Contentful personal access token", "CFPAT-{U43}", ""},
	{"hubspot-private-app-token", "HubSpot private app token", "pat-{s2}{d1}-{u}", "pat-na1- pat-eu1- pat-na2- " +
		"pat-ap1-"},
	{"klaviyo-private-key", "Klaviyo private API key", "pk_{h34}", ""},
	{"notion-integration-token", "Notion integration token", "ntn_{A43-50}", ""},
	{"notion-integration-secret", "Notion integration token", "secret_{A43}", ""},
	{"linear-oauth-token", "Linear OAuth token", "lin_oauth_{h64}", ""},
	{"asana-personal-access-token", "Asana personal access token", "{d1}/{d13-17}/{d13-17}:{h32}", "asana Asana ASANA"},
	{"asana-legacy-access-token", "Asana personal access token", "{d1}/{d13-17}:{h32}", "asana Asana ASANA"},
	{"retool-api-token", "Retool API token", "retool_{A20-60}", ""},
	{"typeform-token", "Typeform token", "tfp_{A44}_{A14}", ""},
	{"statsig-secret-key", "Statsig secret key", "secret-{A43}", ""},
	{"stytch-secret", "Stytch secret", "secret-live-{U36}=", ""},
	{"launchdarkly-sdk-key", "LaunchDarkly SDK key", "sdk-{u}", ""},
	{"launchdarkly-api-token", "LaunchDarkly access token", "api-{u}", ""},
	{"honeycomb-ingest-key", "Honeycomb ingest key", "hc{s1}ik_{s58}", "hcaik_ hcbik_ hccik_ hcxik_"},
	{"honeybadger-api-key", "Honeybadger API key", "hbp_{A36}", ""},
	{"new-relic-user-key", "New Relic user API key", "NRAK-{Z27}", ""},
	{"new-relic-admin-key", "New Relic admin API key", "NRAA-{h27}", ""},
	{"new-relic-ingest-key", "New Relic insert key", "NRII-{U32}", ""},
	{"new-relic-rest-key", "New Relic REST API key", "NRRA-{h42}", ""},
	{"new-relic-browser-public-key", "New Relic browser key", "NRJS-{h19}", ""},
	{"new-relic-synthetics-key", "New Relic synthetics key", "NRSP-{s2}{d2}{h31}", ""},
	{"pganalyze-api-key", "pganalyze API key", "pg{s1}r_{A24-40}", "pgar_ pgwr_"},
	{"kolide-api-key", "Kolide API key", "k2sk_v1_{A24}", ""},
	{"dropbox-access-token", "Dropbox access token", "sl.{U130-200}", ""},
	{"dropbox-user-token", "Dropbox access token", "sl.u.{U100-1500}", ""},
	{"linkedin-application-secret", "LinkedIn client secret", "WPL_AP1.{A16}.{B6}==", ""},
	{"riot-api-key", "Riot Games API key", "RGAPI-{u}", ""},
	{"mapbox-secret-token", "Mapbox secret token", "sk.eyJ{U40-200}.{U20-30}", ""},
	{"mapbox-public-key-id", "Mapbox public token", "pk.eyJ{U40-200}.{U20-30}", ""},
	{"sanity-auth-token", "Sanity token", "sk{A78}", "sanity Sanity SANITY"},
	{"salesforce-session-id", "Salesforce access token", "00D{A12-15}!{P80-120}", ""},
	{"okta-ssws-token", "Okta API token", "SSWS 00{U40}", ""},
	{"deepl-api-key", "DeepL API key", "{u}:fx", ":fx"},
	{"octopus-api-key", "Octopus Deploy API key", "API-{Z25-32}", ""},
	{"facebook-user-token", "Facebook access token", "EAA{A90-300}", ""},
	{"instagram-access-token", "Instagram access token", "IGQV{U100-250}", ""},
	{"twitter-app-bearer-token", "X (Twitter) bearer token", "AAAAAAAAAAAAAAAAAAAAA{A50-100}", ""},
	{"ghost-admin-key", "Ghost admin API key", "{h24}:{h64}", "ghost Ghost GHOST"},
	{"docker-organization-token", "Docker organization token", "dckr_oat_{U32}", ""},
	{"hcp-vault-token", "HashiCorp Vault token", "hvs.{U24-180}", ""},
	{"openai-service-key", "OpenAI API key", "sk-{U20-120}T3BlbkFJ{U20-120}", ""},
	{"photoroom-api-key", "Photoroom API key", "sk_pr_{s3-20}_{h40}", ""},
	{"salad-cloud-api-key", "SaladCloud API key", "salad_cloud_{s3-10}_{A40-64}", ""},
	{"wandb-api-key", "Weights & Biases API key", "wandb_v1_{U60-90}", ""},
}

// knownForms are forms that the rule set has too. It drops every value with a regularity; here
// such a value stays, for audits, and goes by the rule of the rule set.
var knownForms = []tokenForm{
	{"github-pat", "", "ghp_{A36}", ""},
	{"github-oauth", "", "gho_{A36}", ""},
	{"github-app-token", "", "ghs_{A36}", ""},
	{"github-refresh-token", "", "ghr_{A36-76}", ""},
	{"github-fine-grained-pat", "", "github_pat_{A22}_{A59}", ""},
	{"gitlab-pat", "", "glpat-{U20}", ""},
	{"npm-access-token", "", "npm_{A36}", ""},
	{"rubygems-api-token", "", "rubygems_{h48}", ""},
	{"pypi-upload-token", "", "pypi-AgE{U50-1000}", ""},
	{"dockerhub-personal-access-token", "", "dckr_pat_{U27}", ""},
	{"deno-account-token", "", "ddp_{A36}", ""},
	{"deno-account-token", "", "ddo_{A36}", ""},
	{"postman-api-token", "", "PMAK-{h24}-{h34}", ""},
	{"aws-access-token", "", "AKIA{Z16}", ""},
	{"digitalocean-pat", "", "dop_v1_{h64}", ""},
	{"databricks-api-token", "", "dapi{h32}", ""},
	{"dynatrace-api-token", "", "dt0c01.{Z24}.{Z64}", ""},
	{"pulumi-api-token", "", "pul-{h40}", ""},
	{"supabase-management-token", "", "sbp_{h40}", ""},
	{"grafana-service-account-token", "", "glsa_{A32}_{H8}", ""},
	{"grafana-cloud-api-token", "", "glc_{B32-400}", ""},
	{"planetscale-oauth-token", "", "pscale_oauth_{U32-64}", ""},
	{"planetscale-password", "", "pscale_pw_{U32-64}", ""},
	{"huggingface-access-token", "", "hf_{A34}", ""},
	{"anthropic-api-key", "", "sk-ant-{s3-5}{d2}-{U80-120}", ""},
	{"openrouter-api-key", "", "sk-or-v1-{h64}", ""},
	{"groq-api-key", "", "gsk_{A52}", ""},
	{"replicate-api-token", "", "r8_{A37}", ""},
	{"perplexity-api-key", "", "pplx-{A48}", ""},
	{"xai-api-key", "", "xai-{A80}", ""},
	{"stripe-access-token", "", "sk_live_{A24-247}", ""},
	{"stripe-access-token", "", "rk_live_{A24-247}", ""},
	{"stripe-access-token", "", "sk_test_{A24-247}", ""},
	{"square-access-token", "", "EAAA{U60}", ""},
	{"shopify-access-token", "", "shpat_{A32-64}", ""},
	{"shopify-shared-secret", "", "shpss_{A32-64}", ""},
	{"duffel-api-token", "", "duffel_test_{U43}", ""},
	{"duffel-api-token", "", "duffel_live_{U43}", ""},
	{"sendgrid-api-token", "", "SG.{U22}.{U43}", ""},
	{"slack-bot-token", "", "xoxb-{d10-13}-{d10-13}-{A24}", ""},
	{"slack-user-token", "", "xoxp-{d10-13}-{d10-13}-{d10-13}-{A28-34}", ""},
	{"slack-app-token", "", "xapp-{d1}-{Z9-14}-{d10-14}-{h64}", ""},
	{"linear-api-key", "", "lin_api_{A40}", ""},
	{"figma-personal-access-token", "", "figd_{U40}", ""},
	{"readme-api-token", "", "rdme_{s70}", ""},
	{"gcp-api-key", "", "AIza{U35}", ""},
}

// parts splits a form into literals and random parts: "aio_{A28}" is "aio_" and "A28".
func (f *tokenForm) parts() (literals, random []string) {
	rest := f.form
	for {
		literal, tail, ok := strings.Cut(rest, "{")
		literals = append(literals, literal)
		if !ok {
			return literals, random
		}
		part, after, _ := strings.Cut(tail, "}")
		random = append(random, part)
		rest = after
	}
}

// lengthRange returns the least and the greatest length of a random part.
func lengthRange(part string) (least, most int) {
	from, to, ok := strings.Cut(part[1:], "-")
	least, _ = strconv.Atoi(from) // TestTokenForms has every row
	if most = least; ok {
		most, _ = strconv.Atoi(to)
	}
	return least, most
}

// minBits is the entropy per character that a random text of the form has with near certainty:
// a text of n characters of an alphabet has somewhat less than log2 of its size.
func (f *tokenForm) minBits() float64 {
	_, random := f.parts()
	length, digits := 0, true
	for _, part := range random {
		if part == "u" {
			return 2.8
		}
		least, _ := lengthRange(part)
		length += least
		digits = digits && strings.IndexByte("hHd", part[0]) >= 0
	}
	switch {
	case digits || length < 20:
		return 2.8
	case length < 30:
		return 3.2
	}
	return 3.5
}

// tokenPart is a random part of a form, with the literal behind it.
type tokenPart struct {
	set         *charset
	least, most int
	literal     string
}

// uuidParts are the parts of a UUID.
func uuidParts(literal string) []tokenPart {
	set := newCharset("09afAF", "")
	return []tokenPart{{set, 8, 8, "-"}, {set, 4, 4, "-"}, {set, 4, 4, "-"}, {set, 4, 4, "-"}, {set, 12, 12, literal}}
}

// tokenMatcher is a form that is ready to be compared with a text.
type tokenMatcher struct {
	*tokenForm
	prefix string
	parts  []tokenPart
}

// newTokenMatcher returns the matcher of a form.
func newTokenMatcher(f *tokenForm) *tokenMatcher {
	literals, random := f.parts()
	m := &tokenMatcher{tokenForm: f, prefix: literals[0]}
	for i, part := range random {
		if part == "u" {
			m.parts = append(m.parts, uuidParts(literals[i+1])...)
			continue
		}
		least, most := lengthRange(part)
		m.parts = append(m.parts, tokenPart{alphabets[part[0]], least, most, literals[i+1]})
	}
	return m
}

// matchAt returns where the token ends that begins at the offset, or -1.
func (m *tokenMatcher) matchAt(text string, at int) int {
	if !strings.HasPrefix(text[at:], m.prefix) {
		return -1
	}
	return matchParts(text, at+len(m.prefix), m.parts)
}

// matchParts returns where the parts end, or -1. Each takes as many characters as it can, and
// gives back some where the literal behind it is of its own alphabet. Nothing of the alphabet may
// follow the last.
func matchParts(text string, at int, parts []tokenPart) int {
	p := parts[0]
	n := 0
	for n < p.most && at+n < len(text) && p.set[text[at+n]] {
		n++
	}
	if len(parts) == 1 && p.literal == "" {
		if end := at + n; n >= p.least && (end == len(text) || !p.set[text[end]] && !isAlphanumeric(text[end])) {
			return end
		}
		return -1
	}
	for ; n >= p.least; n-- {
		end := at + n
		if !strings.HasPrefix(text[end:], p.literal) {
			continue
		}
		if end += len(p.literal); len(parts) > 1 {
			end = matchParts(text, end, parts[1:])
		}
		if end >= 0 && (len(parts) > 1 || end == len(text) || !isAlphanumeric(text[end])) {
			return end
		}
	}
	return -1
}

// isAlphanumeric reports whether the byte is a letter or a digit of ASCII.
func isAlphanumeric(c byte) bool { return alphanumeric[c] }

var alphanumeric = newCharset("azAZ09", "")

// tokenTable holds the matchers by the first two bytes of their prefix, and those that begin with
// a random part.
var tokenTable, tokensWithoutPrefix = func() (map[[2]byte][]*tokenMatcher, []*tokenMatcher) {
	table := map[[2]byte][]*tokenMatcher{}
	var rest []*tokenMatcher
	for _, f := range slices.Concat(tokenForms, knownForms) {
		m := newTokenMatcher(&f)
		if len(m.prefix) < 2 || m.words != "" {
			rest = append(rest, m)
			continue
		}
		key := [2]byte{m.prefix[0], m.prefix[1]}
		table[key] = append(table[key], m)
	}
	return table, rest
}()

// tokenStarts tells of two bytes whether the prefix of a form begins with them.
var tokenStarts = func() *[1 << 16]bool {
	var starts [1 << 16]bool
	for key := range tokenTable {
		starts[int(key[0])<<8|int(key[1])] = true
	}
	return &starts
}()

// findTokens returns the tokens of a text that have a mark of their issuer.
func findTokens(text string) []secret {
	var rest []*tokenMatcher
	for _, m := range tokensWithoutPrefix {
		if m.isMentioned(text) {
			rest = append(rest, m)
		}
	}
	var out []secret
	for at := 0; at+1 < len(text); at++ {
		known := tokenStarts[int(text[at])<<8|int(text[at+1])]
		if !known && len(rest) == 0 || !isTokenStart(text, at) {
			continue
		}
		matchers := rest
		if known {
			matchers = append(slices.Clip(rest), tokenTable[[2]byte{text[at], text[at+1]}]...)
		}
		for _, m := range matchers {
			if end := m.matchAt(text, at); end >= 0 {
				out = append(out, secret{rule: m.id, value: text[at:end], at: span{at, end}})
				at = end - 1
				break
			}
		}
	}
	return out
}

// isMentioned reports whether the text has one of the words without which the form is none.
func (f *tokenForm) isMentioned(text string) bool {
	for _, word := range strings.Fields(f.words) {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// isTokenStart reports whether a token may begin at the offset: not within a name or a text in
// Base64. A slash may stand before it, in an address.
func isTokenStart(text string, at int) bool {
	if at == 0 {
		return true
	}
	switch c := text[at-1]; c {
	case '+':
		return at == 1 || !isAlphanumeric(text[at-2])
	case '_', '-', '.':
		return false
	default:
		return !isAlphanumeric(c)
	}
}
