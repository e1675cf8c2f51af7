package authz

import "merlon/internal/finding"

var (
	objectRead       = texts.Get("object-level-authorization")
	objectWrite      = texts.Get("object-level-authorization-write")
	passwordChange   = texts.Get("password-of-another-user")
	function         = texts.Get("function-level-authorization")
	unauthenticated  = texts.Get("write-without-authentication")
	massAssignment   = texts.Get("mass-assignment")
	enumeration      = texts.Get("user-enumeration")
	rateLimit        = texts.Get("sign-in-without-limit")
	personalData     = texts.Get("personal-data-of-others")
	ownRole          = texts.Get("own-role")
	outlives         = texts.Get("session-after-sign-out")
	outlivesPassword = texts.Get("session-after-password-change")
	unproven         = texts.Get("password-without-present-one")
	detourOpen       = texts.Get("access-control-detour")
	claimedIdentity  = texts.Get("claimed-identity")
	codeLimit        = texts.Get("code-without-limit")
)

// Rules lists what is found.
func Rules() []*finding.Rule {
	return []*finding.Rule{objectRead, objectWrite, passwordChange, function, unauthenticated, massAssignment,
		enumeration, rateLimit, personalData, ownRole, outlives, outlivesPassword, unproven, detourOpen,
		claimedIdentity, codeLimit}
}
