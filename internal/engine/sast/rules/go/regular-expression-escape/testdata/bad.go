package hosts

import "regexp"

// ruleid: regular-expression-escape
var forbidden = regexp.MustCompile("\bforbidden\\.example")

func bell(s string) bool {
	// ruleid: regular-expression-escape
	ok, _ := regexp.MatchString("x\\\a", s)
	return ok
}
