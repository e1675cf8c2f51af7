package lint

import (
	"strings"
	"testing"

	"merlon/internal/scan/scantest"
)

func TestAnalyzer(t *testing.T) { scantest.Run(t, Analyzer) }

func TestRulesAreWhole(t *testing.T) {
	if len(Rules) != 21 {
		t.Errorf("%d rules", len(Rules))
	}
	for id, r := range Rules {
		if r.ID != "api/lint/"+id || r.Name == "" || len(r.CWE) != 1 || !strings.HasPrefix(r.OWASP[0], "API") ||
			r.HowToPrevent == "" || r.Severity.Rank() == 0 || r.Confidence == "" {
			t.Errorf("%s: %+v", id, r)
		}
	}
	for id := range same {
		if Rules[id] == nil {
			t.Errorf("same names %s", id)
		}
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{"token": true, "access_token": true, "appToken": true, "oauth_token": true,
		"newEmailToken": true, "reset-token": true, "secretKey": true, "consumer_secret": true,
		"tempPassword": true, "api_key": true, "client_secret": true, "callback-secret": true,
		"pageToken": false, "nextToken": false, "tokens": false, "tokenId": false, "tokensymbol": false,
		"include_token": false, "DeviceToken": false, "secretary": false, "passwordPolicy": false} {
		if got := secret.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
