package exposedfiles

import "merlon/internal/finding"

// withTexts adds the texts of a rule.
func withTexts(r *finding.Rule, description, prevent string) *finding.Rule {
	r.Description, r.HowToPrevent = description, prevent
	return r
}

var (
	repository = withTexts(texts.Get("repository"),
		"The folder of version control can be read. From it the whole source code, with its history and every "+
			"password that was ever in it, can be put together.",
		"Deploy what was built, not the working copy. Have the server refuse names that begin with a dot, and "+
			"replace the passwords that the history holds.")
	settings = withTexts(texts.Get("settings"),
		"A file with the settings of the application, or its memory, can be read. Such files hold passwords, keys "+
			"and the addresses of other systems.",
		"Keep settings outside of what the server serves, have it refuse such names, and replace every secret that "+
			"the file holds.")
	copies = withTexts(texts.Get("copy"),
		"A copy of a program, a database or a log lies where the server serves it. A program whose name has another "+
			"ending is shown and not run; it tells how the application works, and often its passwords.",
		"Remove the file, and keep copies, logs and dumps outside of what the server serves.")
	console = withTexts(texts.Get("console"),
		"A console, a profiler or a log of requests answers without a sign-in. It shows what users send, takes the "+
			"server's time, or runs code.",
		"Switch off debugging in production, or let it listen on an address that nobody outside reaches.")
	status = withTexts(texts.Get("status"),
		"A page about the server or the application answers everybody: versions, settings, addresses that users ask "+
			"for, measurements.",
		"Serve such pages on an internal address, or ask for a sign-in.")
	administration = withTexts(texts.Get("administration"),
		"A tool that changes the database or the server shows its sign-in to everybody. Its passwords can be "+
			"guessed, and its flaws used.",
		"Let only networks of administrators reach it, or remove it.")
)
