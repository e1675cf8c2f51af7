package credfile

import (
	"strings"
	"testing"
)

// hostile is what readers begin with, over and over.
var hostile = []struct{ name, piece string }{
	{"x.sql", "copy a(password) from stdin;\n"}, {"x.sql", "insert into a(password) values ('"},
	{"x.sql", "insert into ("}, {"x.sql", "insert into a(password) values (1),"},
	{"a.json", "{"}, {"a.json", "[{\"a\":"}, {"web.config", "<a "}, {"web.config", "<a b='"}, {"config.yml", "- "},
	{"config.yml", " a:\n"}, {"config.php", "define('password',"},
	{"config.php", "login("}, {"a.txt", "password="}, {"a.txt", "a:b@tcp("}, {"a.txt", "://"}, {"a.txt", "-----BEGIN "},
	{".bash_history", "mysql -p"}, {".netrc", "password "}, {"p.csv", "a,"},
}

// Every file comes to an end; how long that takes is for BenchmarkHostile.
func TestHostileFilesEnd(t *testing.T) {
	for _, c := range hostile {
		if found, _ := Find(c.name, strings.Repeat(c.piece, (32<<10)/len(c.piece))); len(found) > maxFound(c.piece) {
			t.Errorf("%s: %q over and over: %d secrets", c.name, c.piece, len(found))
		}
	}
}

// maxFound is what a file of one piece over and over may hold: one secret for each
// piece of a few letters.
func maxFound(piece string) int { return (32 << 10) / len(piece) }

func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		text := strings.Repeat(c.piece, (256<<10)/len(c.piece))
		b.Run(c.name+" "+strings.TrimSpace(c.piece), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Find(c.name, text)
			}
		})
	}
}

// A file that asks for too much work is said to have done so.
func TestBudget(t *testing.T) {
	if _, whole := Find("a.txt", strings.Repeat("host=h password=x; ", 1<<20)); whole {
		t.Error("a file of a million connection strings is whole")
	}
	if _, whole := Find("a.txt", strings.Repeat("plain text ", 1<<20)); !whole {
		t.Error("plain text is too much work")
	}
}
