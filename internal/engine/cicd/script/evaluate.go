package script

import "merlon/internal/lazyregexp"

// This file finds code that a script fetches, and texts that it runs as code.

// evaluates matches commands that run a text as code; what they run is one of the
// groups.
var evaluates = lazyregexp.New(`\b(?:eval|iex|Invoke-Expression)\s+(.*)|\b(?:ba|z|da|k)?sh\s+-\w*c\s+(.*)|\b(?:python3?|perl|ruby|node|php)\s+-(?:c|e|r)\s+(.*)|\bssh\s+\S+.*?\s+(["'].*)|\bxargs\b.*\b(?:ba)?sh\s+-c\s+(.*)`)

// EvaluatedVariables returns the variables whose text the line runs as code: of eval,
// of sh -c "…", and the like. What stands in single quotes is expanded by the inner
// shell, as a value, and is left out. Quoting does not help there.
func EvaluatedVariables(line string) []string {
	var out []string
	for _, m := range evaluates.FindAllStringSubmatch(line, -1) {
		for _, arg := range m[1:] {
			if arg != "" && arg[0] != '\'' {
				out = append(out, ExpandedVariables(arg)...)
			}
		}
	}
	return out
}

// fetched matches a script that is fetched and run at once.
var fetched = lazyregexp.New(`\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^|;&]*https?://[^|;&]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+\S+\s+)*(?:ba|z|da|k)?(?:sh|bash|python3?|node|deno|bun|ruby|perl|php|iex|pwsh)\b|(?:ba|z|da)?sh\s+(?:-c\s+["']?\$\(|<\()\s*(?:curl|wget)\b|\b(?:source|\.|eval)\s+["']?(?:<\(|\$\()\s*(?:curl|wget)\b|\biex\s*\(?\(?\s*(?:New-Object|iwr|irm)\b`)

// RunsRemoteScript reports whether the line runs a script that it fetches.
func RunsRemoteScript(line string) bool { return fetched.MatchString(line) }

var (
	traced = lazyregexp.New(`^\s*set\s+-[a-wyz]*x|(?:ba)?sh\s+-[a-wyz]*x\b|set\s+-o\s+xtrace|Set-PSDebug\s+-Trace`)
	listed = lazyregexp.New(`^\s*(?:printenv|env|export\s+-p|set)(?:\s*\|\s*sort)?\s*$|Get-ChildItem\s+env:|\b(?:gci|ls|dir)\s+env:`)
)

// EnablesTracing reports whether the line makes the shell print every command.
func EnablesTracing(line string) bool { return traced.MatchString(line) }

// PrintsEnvironment reports whether the line prints every variable.
func PrintsEnvironment(line string) bool { return listed.MatchString(line) }

// collector matches addresses of services that show their users every request.
var collector = lazyregexp.New(`(?i)\b[\w.-]*(?:webhook\.site|requestbin\.(?:com|net)|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|burpcollaborator\.net|oastify\.com|oast\.(?:fun|live|me|online|pro|site)|interact\.sh|beeceptor\.com|hookbin\.com|requestcatcher\.com)\b`)

// RequestCollector returns the host of a service that shows requests to anybody, when
// the line names one, or "".
func RequestCollector(line string) string { return collector.FindString(line) }
