package credentials

import (
	"context"
	"strings"
	"testing"
)

// mixed returns n characters of the alphabet without any run of it.
func mixed(alphabet string, n int) string {
	var b strings.Builder
	for i, x := 0, 7; i < n; i++ {
		x = (x*1103 + 12345) % 65537
		b.WriteByte(alphabet[(x>>3)%len(alphabet)])
	}
	return b.String()
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz0123456789"
	hexa    = "0123456789abcdef"
)

// Each form is found with a secret that its issuer could have made, and is silent
// about the same with an example's in its place.
func TestForms(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	id := mixed(hexa, 8) + "-" + mixed(hexa, 4) + "-" + mixed(hexa, 4) + "-" + mixed(hexa, 4) + "-" + mixed(hexa, 12)
	b64 := func(n int) string { return mixed(letters, n) }
	texts := map[string]string{
		"azure-devops-token": b64(76) + "AZDO" + "a1B2",
		"azure-ai-key":       b64(52) + "JQQJ99" + b64(26),
		"azure-resource-key": "key: " + b64(33) + "+ASb" + b64(5) + "Q=",
		"azure-sas-url": "https://a.blob.core.windows.net/c?sv=2023-01-03&se=2030-01-01&sp=r&sig=" +
			b64(43) + "%3D",
		"azure-workflow-url": "https://prod-1.westeurope.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=" + b64(43),
		"microsoft-teams-webhook-office": "https://outlook.office.com/webhook/" + id + "@" + id + "/IncomingWebhook/" +
			mixed(hexa, 32) + "/" + id,
		"discord-webhook-url":         "https://discord.com/api/webhooks/812345678998765432/" + b64(68),
		"discord-bot-token":           "client.login('M" + b64(25) + ".Xk2pLq." + b64(30) + "')",
		"telegram-bot-token":          "bot8695114231:AA" + b64(33),
		"bitbucket-data-center-token": "BBDC-" + b64(44),
		"nuget-api-key":               "oy2" + mixed(small, 43),
		"doppler-service-token":       "dp.st.prd." + b64(43),
		"dependency-track-api-key":    "odt_" + b64(32),
		"new-relic-license-key":       mixed(hexa, 36) + "NRAL",
		"twitch-stream-key":           "live_126031192_" + b64(30),
		"truenas-api-key":             `truenas login "7-` + b64(64) + `"`,
		"blynk-device-token":          "https://blynk.cloud/external/api/get?token=" + b64(32) + "&V1",
		"thingsboard-device-token":    "http://thingsboard.cloud/api/v1/" + mixed(small, 20) + "/telemetry",
		"kubernetes-bootstrap-token":  "kubeadm join --token k3x9qa." + mixed(small, 16),
		"tavily-api-key":              "tvly-" + b64(32),
		"gcp-oauth-access-token":      "ya29." + b64(120),
		"gcp-oauth-client-secret":     "GOCSPX-" + b64(28),
		"gcp-cloud-messaging-key":     "AAAA" + b64(7) + ":APA91b" + b64(134),
		"aws-session-token":           "FwoGZXIvYXdz" + b64(300),
		"aws-marketplace-token":       "amzn.mws." + id,
		"amazon-login-client-secret":  "amzn1.oa2-cs.v1." + mixed(hexa, 64),
		"braintree-access-token":      "access_token$production$" + mixed(small, 16) + "$" + mixed(hexa, 32),
		"square-oauth-secret":         "sq0csp-" + b64(43),
		"langfuse-secret-key":         "sk-lf-" + id,
		"resend-api-key":              "re_" + b64(8) + "_" + b64(24),
		"firecrawl-api-key":           "fc-" + mixed(hexa, 32),
		"e2b-api-key":                 "e2b_" + mixed(hexa, 40),
		"axiom-api-token":             "xaat-" + id,
		"spectral-api-key":            "spu-" + mixed(hexa, 32),
		"nightfall-api-key":           "NF-" + b64(32),
		"voiceflow-api-key":           "VF.DM." + mixed(hexa, 24) + "." + b64(16),
		"kerberos-ticket-hash":        "$krb5asrep$23$user@corp.org:" + mixed(hexa, 32) + "$" + mixed(hexa, 300),
		"password-hash":               `x = "$6$` + b64(8) + "$" + b64(86) + `"`,
		"psexec-password":             `psexec \\10.0.9.1 -u Administrator -p braksha4 cmd`,
		"vmware-password":             "Connect-VIServer -Server 192.168.1.51 -User root -Password VMware9!",
		"powershell-password":         `ConvertTo-SecureString "Kx7-frost" -AsPlainText -Force`,
		"netrc-password":              "machine api.corp.net login joe password m0nkey-77",
		"npm-registry-token":          "//registry.corp.net/:_authToken=" + b64(36),
		"network-credential-password": `new NetworkCredential("joe", "m0nkey-77")`,
		"sshpass-password":            "sshpass -p 'Kx7frost' ssh root@10.0.0.1",
		"directory-password":          `new DirectoryEntry("LDAP://corp", "admin", "Rrhh1234")`,
	}
	for _, f := range forms {
		text, ok := texts[f.id]
		if !ok {
			t.Errorf("no text for %s", f.id)
			continue
		}
		want := f.id
		found, err := e.findSecrets(context.Background(), "notes.txt", "intro\n"+text+"\nend\n")
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, s := range found {
			told = told || s.rule == want
		}
		if !told {
			t.Errorf("%s is not found in %q: %+v", f.id, text, found)
		}
		if f.bits == 0 {
			continue
		}
		for _, s := range found {
			dull := strings.Replace(text, s.value, strings.Repeat("x", len(s.value)), 1)
			again, err := e.findSecrets(context.Background(), "notes.txt", dull)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range again {
				if a.rule == want {
					t.Errorf("%s tells an example: %q", f.id, dull)
				}
			}
		}
	}
}

// Code that looks for keys holds none.
func TestKeyBody(t *testing.T) {
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	const code = `pattern="/^-----BEGIN RSA PRIVATE KEY-----[\S\s]*-----END RSA PRIVATE KEY-----/" title="a key of the server that people paste here, first line to last"`
	found, err := e.findSecrets(context.Background(), "upload.html", code+"\n"+code)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// TestIsPlaceholder has values that pass the expressions of the rule set. Tokens are put together
// here, so that this file has none.
func TestIsPlaceholder(t *testing.T) {
	for value, want := range map[string]bool{
		"sk_test_" + "placeholder":                               true,
		"ghp_" + "your_token_here_123456789012345678":            true,
		"glpat-" + strings.Repeat("x", 20):                       true,
		"AKIA" + "IOSFODNN7EXAMPLE":                              true,
		"xoxb-" + "1234-REDACTED":                                true,
		"SG." + "abc...":                                         true,
		"npm_" + "changeMe00000000000000000000000000":            true,
		"ghp_" + "yourL9x2KqTz81mNwBvCrJdHsEuPaGf0oI":            false, // a word by chance
		"sk_live_" + "51Hx8kXXmKq2Vb7RtYz0Nc4Wd":                 false,
		"https://hooks.example.com/services/T0/B0/" + "q8Zk2Lw0": false,
	} {
		if got := isPlaceholder(value); got != want {
			t.Errorf("%s: %v", value, got)
		}
	}
}
