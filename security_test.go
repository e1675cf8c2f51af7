package merlon

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// asvs are the requirements of levels 1 and 2 of the OWASP ASVS 5.0.0: for each
// section how many there are, numbered from 1. Requirements of level 3 stand
// behind them in the standard.
var asvs = map[string]int{
	"1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2, "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1,
	"3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2, "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4,
	"5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3, "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4,
	"7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2, "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1,
	"9.1": 3, "9.2": 4, "10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3,
	"11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1, "12.1": 3, "12.2": 2, "12.3": 4,
	"13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5, "14.1": 2, "14.2": 4, "14.3": 3, "15.1": 3, "15.2": 3, "15.3": 7,
	"16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3, "17.1": 1, "17.2": 4, "17.3": 2,
}

// TestSecurityPage checks that docs/security.md judges every requirement once, and
// that the tests it names exist.
func TestSecurityPage(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, s := range sources(t) {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(s.text, -1) {
			tests[m[1]] = s.test
		}
	}
	judged := map[string]int{}
	row := regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| [^|]+ \| ([^|]+) \| ([^|]*) \|$`)
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		judged[m[1]]++
		if m[2] != "met" && m[2] != "n/a" && m[2] != "open" {
			t.Errorf("%s: status %q, want met, n/a or open", m[1], m[2])
		}
		if strings.TrimSpace(m[3]) == "" {
			t.Errorf("%s: nothing says how or why", m[1])
		}
	}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		if !tests[m[1]] {
			t.Errorf("there is no test %s", m[1])
		}
	}
	for section, n := range asvs {
		for i := range n {
			id := fmt.Sprintf("%s.%d", section, i+1)
			if judged[id] != 1 {
				t.Errorf("%s is judged %d times", id, judged[id])
			}
			delete(judged, id)
		}
	}
	for id := range judged {
		t.Errorf("%s is no requirement of level 1 or 2", id)
	}
}
