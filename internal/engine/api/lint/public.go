package lint

import (
	"slices"
	"strings"
	"unicode"

	"merlon/internal/engine/api/apispec"
)

// This file knows operations that nobody has to sign in for, by their purpose.

// publicWords are words of paths and operation IDs whose operations come before a session exists, end
// it, or tell a load balancer that the server lives.
var publicWords = wordSet(`login signin logon logout signout logoff signup register registration recovery recover forgot
	reset verification verify confirm confirmation activate activation otp challenge captcha csrf oauth oauth2 oidc openid
	saml sso acs jwks authenticate authorize token tokens introspect revoke refresh passkey webauthn
	health healthz healthcheck livez readyz liveness readiness alive ready ping version versions status metrics heartbeat
	webhook webhooks callback callbacks unsubscribe`)

// publicPairs are pairs of words that say the same, as in /sign-in and /well-known.
var publicPairs = wordSet(`sign-in sign-up sign-out log-in log-out well-known self-service magic-link`)

// adminWords are words of operations that never are public, whatever else their names say.
var adminWords = wordSet(`admin admins administration internal management superuser`)

// wordSet makes a set of a list of words.
func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// words splits a path or an identifier into its words in lower case: /api/signIn and sign_in both
// have sign and in. Parameters in braces are left out.
func words(s string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("/-_. ", r) }) {
		if strings.HasPrefix(part, "{") || strings.HasPrefix(part, ":") {
			continue
		}
		from := 0
		for i, r := range part {
			if i > from && unicode.IsUpper(r) && !unicode.IsUpper(rune(part[i-1])) {
				out = append(out, strings.ToLower(part[from:i]))
				from = i
			}
		}
		out = append(out, strings.ToLower(part[from:]))
	}
	return out
}

// isPublicByPurpose reports whether an operation is public by its purpose: signing in, registration,
// recovery of an account, tokens, health. An operation for administrators is not.
func isPublicByPurpose(o *apispec.Operation) bool {
	all := append(words(o.Path), words(o.ID)...)
	if isForAdministrators(o) {
		return false
	}
	for i, w := range all {
		if publicWords[w] || i > 0 && publicPairs[all[i-1]+"-"+w] {
			return true
		}
	}
	return false
}

// isForAdministrators reports whether the path or the ID of an operation says so.
func isForAdministrators(o *apispec.Operation) bool {
	return slices.ContainsFunc(append(words(o.Path), words(o.ID)...), func(w string) bool { return adminWords[w] })
}

// takesSession reports whether an operation takes the session or a credential as a parameter in a
// header or a cookie: it authenticates, although the description does not use security for it.
func takesSession(o *apispec.Operation) bool {
	for _, p := range o.Parameters {
		name := strings.ToLower(p.Name)
		if p.In != "header" && p.In != "cookie" || strings.Contains(name, "csrf") || strings.Contains(name, "xsrf") {
			continue
		}
		for _, part := range []string{"authorization", "cookie", "token", "session", "api-key", "apikey", "api_key",
			"x-auth", "access-key", "signature"} {
			if strings.Contains(name, part) {
				return true
			}
		}
	}
	return false
}
