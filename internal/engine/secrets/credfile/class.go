package credfile

import "merlon/internal/finding"

// This file says what each kind of secret costs, and what is to be done.

// secretClass is a kind of secret.
type secretClass struct {
	severity   finding.Severity
	confidence finding.Confidence
	cwe, owasp string
	why, fix   string
}

const exposed = "Whoever can read the file has it: everybody with the repository, its copies and backups, and the " +
	"packages and images built from it. Deleting the line does not help, because the history keeps it."

var (
	passwordClass = &secretClass{finding.High, finding.Certain, "CWE-256", "A04:2021",
		"The password stands in the file in clear text, or in a form that anybody turns back. " + exposed,
		"Change the password where it is used, give every user and program its own, and take the file out of the " +
			"repository: add its name to the ignore file, and create it from a secret store where it is needed."}
	tokenClass = &secretClass{finding.High, finding.Certain, "CWE-798", "A07:2021",
		"The token opens the account without any other question. " + exposed,
		"Revoke the token at its issuer, issue a new one with the least rights that will do, and take the file out " +
			"of the repository. Look in the issuer's log for its use since the commit."}
	cloudClass = &secretClass{finding.Critical, finding.Certain, "CWE-798", "A07:2021",
		"The credential opens an account of a cloud or an infrastructure, with everything that runs there. " + exposed,
		"Revoke the credential at the provider now, read its log for uses since the commit, and let programs get " +
			"short-lived credentials from the platform that they run on."}
	keyClass = &secretClass{finding.Critical, finding.Certain, "CWE-321", "A02:2021",
		"Who has the key can sign, decrypt or sign in as its owner. " + exposed,
		"Make a new key, replace the old one everywhere it is trusted, and keep keys in a secret store or an agent, " +
			"never in a repository."}
	lockedClass = &secretClass{finding.Low, finding.Likely, "CWE-522", "A04:2021",
		"The content is encrypted, so that only a password stands before it, which can be tried at any speed by who " +
			"has a copy. " + exposed,
		"Take the file out of the repository, and replace the key when its password is short, old or known to others."}
	vaultClass = &secretClass{finding.Medium, finding.Likely, "CWE-522", "A04:2021",
		"The file is a store of passwords or keys. What protects it, if anything, is one password that can be tried " +
			"at any speed by who has a copy, and often the key lies beside it. " + exposed,
		"Take the file out of the repository, and change the passwords and keys that were in it."}
	hashClass = &secretClass{finding.Medium, finding.Likely, "CWE-522", "A04:2021",
		"Hashes of passwords are tried out by the billion per second, so that all but long random passwords are " +
			"found. " + exposed,
		"Have the passwords changed, and keep the file out of the repository: make it where it is needed."}
	signingClass = &secretClass{finding.High, finding.Likely, "CWE-321", "A02:2021",
		"Who knows the value can forge sessions, cookies and reset links of the application, or decrypt what it " +
			"protects. " + exposed,
		"Replace the value, which ends all sessions, and read the new one from the environment or a secret store."}
	settingClass = &secretClass{finding.Medium, finding.Likely, "CWE-260", "A05:2021",
		"Configuration is read by many people and programs that need none of its passwords. " + exposed,
		"Change the secret where it is used, and have the configuration name an environment variable or an entry of " +
			"a secret store instead."}
	addressClass = &secretClass{finding.High, finding.Likely, "CWE-798", "A07:2021",
		"The address of the server stands beside the user's name and password, so nothing else is needed to sign in. " +
			exposed,
		"Change the password, and put the address together when the program runs, with a password from the " +
			"environment or a secret store."}
	codeClass = &secretClass{finding.Medium, finding.Uncertain, "CWE-798", "A07:2021",
		"Everybody who has the program has the password. " + exposed,
		"Change the password, and read it from the environment or a secret store when the program runs."}
	recordClass = &secretClass{finding.Medium, finding.Likely, "CWE-312", "A04:2021",
		"Passwords of people, or their hashes, lie in a copy of a database. " + exposed,
		"Take the copy out of the repository, have the passwords changed, and make test data without real records."}
)

// newRule makes the rule for people.
func (c *secretClass) newRule(id, name, what string) *finding.Rule {
	r := &finding.Rule{
		ID:               "secrets/credentials/" + id,
		Analysis:         finding.Secret,
		Name:             name,
		ShortDescription: name + " in a file",
		Description:      what + "\n\n" + c.why,
		HowToPrevent:     c.fix,
		CWE:              []string{c.cwe},
		OWASP:            []string{c.owasp},
		Severity:         c.severity,
		Confidence:       c.confidence,
	}
	r.AddReferences()
	return r
}
