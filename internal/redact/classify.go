package redact

import (
	"slices"
	"strings"
	"unicode"

	"merlon/internal/lazyregexp"
)

// This file decides where a value is replaced.

// A place is where a value is replaced.
// The order is from the most careful to the most thorough replacement.
type place int

const (
	behindName place = iota // where its name stands before it
	alone                   // where it is a word of its own
	// A long random value cannot be an ordinary word: it is replaced at every occurrence.
	anywhere
)

// Lengths by which values are told apart, in bytes.
const (
	minAlone  = 5  // shorter ones are everywhere
	minDigits = 6  // of a number
	longWord  = 16 // letters that are not a word of a report
)

// classifyValue decides where a value is replaced that may be a word of one of the public texts.
func classifyValue(value string, public []string) place {
	letters, digits, others := 0, 0, 0
	for _, r := range value {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		default:
			others++
		}
	}
	lower := strings.ToLower(value)
	switch {
	// Short values and short numbers occur by chance, as counts, ports and status codes.
	case len(value) < minAlone, digits == len(value) && digits < minDigits:
		return behindName
	// Replacing it everywhere would make the report unreadable, and show which word is the
	// secret.
	case slices.Contains(ordinary, lower), isPublic(lower, public):
		return behindName
	// A placeholder of a form or a line of a table.
	case letters+digits == 0: // "******", "--------"
		return behindName
	// A number or a word: replaced as a whole word, so that longer words which contain it stay.
	case digits == len(value) && digits < longWord, others == 0 && digits == 0 && len(value) < longWord,
		len(value) < minAnywhere:

		return alone
	}
	return anywhere
}

// isPublic reports whether the value is one or several whole words of a public text.
func isPublic(value string, public []string) bool {
	for _, text := range public {
		for from := 0; ; {
			at := strings.Index(text[from:], value)
			if at < 0 {
				break
			}
			at += from
			if isWholeWord(text, at, at+len(value)) {
				return true
			}
			from = at + 1
		}
	}
	return false
}

// ordinary are values and words that reports are full of: they say nothing of who has
// chosen them as a secret.
var ordinary = strings.Fields(`
	access account admin administrator allow allowed anonymous answer apikey application application/json application/xml
	application/x-www-form-urlencoded authorization basic bearer browser changeme chrome client content control cookie
	credential credentials database debug default demo deny denied development disabled enabled error example example.com
	example.org export false field filter finding firefox google guest header headers hidden hello host html import index
	input install integer internal java javascript json keep-alive language local localhost login logout manager merlon method mobile
	module mozilla mysql nobody no-cache null number object operator oracle owner page parameter passphrase passwd password path
	pattern plain platform policy port postgres private production profile proxy public python query random reader redacted
	redirect reference register report request response result root sample scan scanner schema scheme script search
	secret secure security select server service session settings signin signout signup source staff staging standard static status
	string superuser support system target template tenant test tester testing tests text text/html text/plain title token true
	undefined unknown update upload user username users value version viewer visitor web windows worker write xmlhttprequest`)

// credential matches names of what is handed out as a credential.
// Any part of the name counts: "XSRF-TOKEN", "phpsessid" and "x_api_key" match.
var credential = lazyregexp.New(`(?i)sess|sid$|token|auth|jwt|csrf|xsrf|remember|secret|passw|api.?key|nonce|ticket|signature|\.aspx`)

// IsCredentialName reports whether the name is that of a credential.
func IsCredentialName(name string) bool {
	return credential.MatchString(name) || password.MatchString(name)
}

// password matches names of values that people choose, which are often short or dictionary
// words.
var password = lazyregexp.New(`(?i)pass|pwd|pin$|otp|code$|kennwort|motdepasse|contrase|senha`)

// isRandom reports whether a value is one that nobody has typed: long, without spaces, of
// letters and digits in no order of words.
func isRandom(value string) bool {
	// 12 characters of letters and digits are above 60 bits; shorter values may be words.
	if len(value) < 12 || len(value) > maxValue || strings.ContainsAny(value, " \t\r\n<>{}\"/?:") &&
		!strings.ContainsAny(value, "=.%+") {
		return false
	}
	// turns counts changes between digits, upper and lower case: random text changes at nearly
	// every other character, and words hardly ever.
	letters, digits, turns := 0, 0, 0
	last := 0
	for _, r := range value {
		kind := 0
		switch {
		case r >= '0' && r <= '9':
			kind = 1
			digits++
		case unicode.IsUpper(r):
			kind = 2
			letters++
		case unicode.IsLower(r):
			kind = 3
			letters++
		}
		if kind != 0 && last != 0 && kind != last {
			turns++
		}
		last = kind
	}
	switch {
	case strings.ContainsAny(value, " <>{}\""), strings.Contains(value, "://"), strings.HasPrefix(value, "/"),
		strings.HasPrefix(value, "%7B"):

		return false
	case letters == 0:
		return digits >= longWord
	}
	// A sixth of the characters, or a tenth in a long value such as a hexadecimal digest.
	return digits > 0 && turns*6 >= len(value) || len(value) >= 40 && turns*10 >= len(value)
}
