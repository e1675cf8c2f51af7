package authz

import "merlon/internal/finding"

// newRule makes a rule. The texts are what it finds, why that matters and how to prevent it.
func newRule(id, name string, severity finding.Severity, texts [3]string, class [2]string) *finding.Rule {
	return &finding.Rule{
		ID: "api/operations/" + id, Analysis: finding.API, Name: name, ShortDescription: texts[0],
		Description: texts[0] + " " + texts[1], HowToPrevent: texts[2],
		CWE: []string{class[0]}, OWASP: []string{class[1]}, Severity: severity, Confidence: finding.Certain,
		Language: "HTTP",
	}
}

var (
	objectRead = newRule("object-level-authorization", "Broken object level authorization (BOLA): read access",
		finding.High, [3]string{
			"An operation shows an object of one user to another one who knows its identifier.",
			"Identifiers can be guessed, listed or found in links, so that every user's data is open to every " +
				"other one.",
			"Look objects up by the signed-in user and the identifier together, in one place that all operations use.",
		}, [2]string{"CWE-639", "API1:2023"})
	objectWrite = newRule("object-level-authorization-write", "Broken object level authorization (BOLA): write access",
		finding.High, [3]string{
			"An operation changes or removes an object of one user for another one who knows its identifier.",
			"Every user can overwrite or delete what belongs to every other one.",
			"Look objects up by the signed-in user and the identifier together, in one place that all operations use.",
		}, [2]string{"CWE-639", "API1:2023"})
	passwordChange = newRule("password-of-another-user", "Account takeover by changing another user's "+
		"password", finding.Critical, [3]string{
		"A user can set the password of another one.",
		"Whoever has an account can take over every other one.",
		"Take whose password is changed from the session, not from the request, and ask for the old password.",
	}, [2]string{"CWE-639", "API1:2023"})
	function = newRule("function-level-authorization", "Broken function level authorization (BFLA)", finding.High,
		[3]string{
			"An operation that is meant for a higher role gives a user of a lower one the same answer, or " +
				"changes for " +
				"him what he is refused to make.",
			"Ordinary users can do what administrators can.",
			"Deny by default, and name for each operation the roles that may use it, in one place.",
		}, [2]string{"CWE-285", "API5:2023"})
	unauthenticated = newRule("write-without-authentication", "Missing authentication for a write "+
		"operation", finding.Critical, [3]string{
		"An operation changes or removes objects for nobody, though one has to sign in to make them.",
		"Whoever knows an identifier can overwrite or delete what belongs to every user.",
		"Check the sign-in in one place before all operations, and name the open ones there, instead of checking in " +
			"each operation.",
	}, [2]string{"CWE-306", "API2:2023"})
	massAssignment = newRule("mass-assignment", "Mass assignment", finding.High, [3]string{
		"An operation stores a property that its description does not take and that decides what a user may do.",
		"Users can give themselves roles, mark themselves as verified or set their own balance.",
		"Copy named properties from the request into the object, instead of the whole request.",
	}, [2]string{"CWE-915", "API3:2023"})
	enumeration = newRule("user-enumeration", "User enumeration through the login response", finding.Medium, [3]string{
		"Signing in with a wrong password is answered differently for a user who exists and one who does not.",
		"Lists of valid names make guessing of passwords and phishing cheap.",
		"Answer both with the same status and text, and take the same time for both.",
	}, [2]string{"CWE-204", "API2:2023"})
	rateLimit = newRule("sign-in-without-limit", "Missing rate limit on login", finding.Medium, [3]string{
		"Signing in with wrong passwords is answered many times in a row as the first time.",
		"Passwords can be guessed as fast as the application answers.",
		"Slow down or refuse after a few failures, by account and by address, and answer 429.",
	}, [2]string{"CWE-307", "API4:2023"})
	personalData = newRule("personal-data-of-others", "Excessive data exposure: contact data of other users",
		finding.Medium, [3]string{
			"An operation shows an ordinary user the address of mail or the telephone number of another one.",
			"Whoever registers can collect those of all users, for phishing and for guessing passwords.",
			"Answer with types of their own for others, without what only the owner and administrators need.",
		}, [2]string{"CWE-359", "API3:2023"})
	ownRole = newRule("own-role", "Privilege escalation through a role property", finding.Critical, [3]string{
		"An operation that sets what somebody may do lets an ordinary user set that of his own account.",
		"Everybody who may register can become an administrator.",
		"Ask for the role of the one who asks before such an operation does anything, and deny by default.",
	}, [2]string{"CWE-269", "API5:2023"})
	outlives = newRule("session-after-sign-out", "Session not invalidated on logout", finding.Low, [3]string{
		"What let a user in lets him in after he has signed out.",
		"A token that was stolen, or left on a shared machine, stays good although its user believes the session over.",
		"Keep a list of ended tokens until they expire, let them live for minutes only, or keep sessions on the " +
			"server.",
	}, [2]string{"CWE-613", "API2:2023"})
	outlivesPassword = newRule("session-after-password-change", "Sessions not invalidated on password change",
		finding.Low,
		[3]string{
			"What let a user in lets him in after he has set another password.",
			"Users change a password when somebody else may know it; whoever has signed in with it stays signed in.",
			"End the user's other sessions when the password changes: refuse tokens that were issued before it.",
		}, [2]string{"CWE-613", "API2:2023"})
	unproven = newRule("password-without-present-one", "Password change without the current password", finding.High,
		[3]string{
			"An operation that asks for the present password sets another one although the present one is wrong.",
			"Whoever has a user's session for a moment, by a stolen token or an open screen, takes over the account.",
			"Compare the present password with the stored one before another one is set, and limit how often that " +
				"may fail.",
		}, [2]string{"CWE-620", "API2:2023"})
	detourOpen = newRule("access-control-detour", "Access control bypass", finding.High, [3]string{
		"An operation refuses somebody, and answers him when the same thing is asked for in another way: another " +
			"spelling of the path, or a header.",
		"What checks requests reads them otherwise than what answers them, so that the check can be walked around.",
		"Check rights where the request is handled, after it was routed; deny by default, refuse paths that are not " +
			"in their normal form, and take no header of a proxy from anybody else.",
	}, [2]string{"CWE-863", "API5:2023"})
	claimedIdentity = newRule("claimed-identity", "Spoofable identity header or parameter", finding.Critical, [3]string{
		"A header or a parameter of the request decides whose data an operation shows.",
		"Everybody can read what belongs to every user whose name or number he knows.",
		"Take who asks from the session alone; where a gateway says it in a header, drop that header from all " +
			"requests that come from outside.",
	}, [2]string{"CWE-290", "API2:2023"})
	codeLimit = newRule("code-without-limit", "Missing rate limit on one-time codes", finding.High, [3]string{
		"Wrong codes that would prove who somebody is are answered many times in a row as the first time.",
		"Codes of a few digits are found by trying all, and with them the account is taken over.",
		"Make a code invalid after a few wrong ones, let it live for minutes, and make it long.",
	}, [2]string{"CWE-307", "API2:2023"})
)

// Rules lists what is found.
func Rules() []*finding.Rule {
	return []*finding.Rule{objectRead, objectWrite, passwordChange, function, unauthenticated, massAssignment,
		enumeration, rateLimit, personalData, ownRole, outlives, outlivesPassword, unproven, detourOpen,
		claimedIdentity, codeLimit}
}
