// Package check lists the checks of a dynamic analysis. Each is a folder below this
// one, and one line here.
package check

import (
	"merlon/internal/engine/dast/attack"
	"merlon/internal/engine/dast/check/access"
	"merlon/internal/engine/dast/check/caching"
	"merlon/internal/engine/dast/check/cipher"
	"merlon/internal/engine/dast/check/codeinjection"
	"merlon/internal/engine/dast/check/command"
	"merlon/internal/engine/dast/check/cookies"
	"merlon/internal/engine/dast/check/cors"
	"merlon/internal/engine/dast/check/csrf"
	"merlon/internal/engine/dast/check/deserialization"
	"merlon/internal/engine/dast/check/dom"
	"merlon/internal/engine/dast/check/enforcement"
	"merlon/internal/engine/dast/check/forgotten"
	"merlon/internal/engine/dast/check/headerinjection"
	"merlon/internal/engine/dast/check/headers"
	"merlon/internal/engine/dast/check/hostheader"
	"merlon/internal/engine/dast/check/jndi"
	"merlon/internal/engine/dast/check/jwt"
	"merlon/internal/engine/dast/check/ldapinjection"
	"merlon/internal/engine/dast/check/leaks"
	"merlon/internal/engine/dast/check/methods"
	"merlon/internal/engine/dast/check/nosqlinjection"
	"merlon/internal/engine/dast/check/nullbyte"
	"merlon/internal/engine/dast/check/pathtraversal"
	"merlon/internal/engine/dast/check/redirect"
	"merlon/internal/engine/dast/check/sessionid"
	"merlon/internal/engine/dast/check/slowexpression"
	"merlon/internal/engine/dast/check/sqlinjection"
	"merlon/internal/engine/dast/check/ssrf"
	"merlon/internal/engine/dast/check/templateinjection"
	"merlon/internal/engine/dast/check/tls"
	"merlon/internal/engine/dast/check/upload"
	"merlon/internal/engine/dast/check/versions"
	"merlon/internal/engine/dast/check/xpathinjection"
	"merlon/internal/engine/dast/check/xss"
	"merlon/internal/engine/dast/check/xxe"
)

// All lists every check, in the order in which they look at a point.
var All = []*attack.Check{
	redirect.Check,
	xss.Check,
	dom.Check,
	sqlinjection.Check,
	sqlinjection.Slow,
	command.Check,
	command.Slow,
	pathtraversal.Check,
	ldapinjection.Check,
	xpathinjection.Check,
	templateinjection.Check,
	codeinjection.Check,
	nosqlinjection.Check,
	nullbyte.Check,
	headerinjection.Check,
	xxe.Check,
	ssrf.Check,
	jndi.Check,
	deserialization.Check,
	deserialization.Indicator,
	upload.Check,
	access.Check,
	cipher.Check,
	csrf.Check,
	enforcement.Check,
	cors.Check,
	forgotten.Check,
	hostheader.Check,
	caching.Check,
	tls.Check,
	methods.Check,
	methods.Write,
	cookies.Check,
	sessionid.Check,
	versions.Check,
	headers.Check,
	leaks.Check,
	jwt.Check,
	jwt.Slow,
	slowexpression.Check,
}
