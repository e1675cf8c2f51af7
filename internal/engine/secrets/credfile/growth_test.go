package credfile

import (
	"strings"
	"testing"
	"time"
)

// Nobody can write a file that takes long: each of these repeats what one of the
// readers begins with.
func TestGrowth(t *testing.T) {
	for _, c := range []struct{ name, piece string }{
		{"x.sql", "copy a(password) from stdin;\n"}, {"x.sql", "insert into a(password) values ('"}, {"x.sql", "insert into ("}, {"x.sql", "insert into a(password) values (1),"},
		{"a.json", "{"}, {"a.json", "[{\"a\":"}, {"web.config", "<a "}, {"web.config", "<a b='"}, {"config.yml", "- "}, {"config.yml", " a:\n"}, {"config.php", "define('password',"},
		{"config.php", "login("}, {"a.txt", "password="}, {"a.txt", "a:b@tcp("}, {"a.txt", "://"}, {"a.txt", "-----BEGIN "}, {".bash_history", "mysql -p"}, {".netrc", "password "}, {"p.csv", "a,"},
	} {
		text := strings.Repeat(c.piece, (256<<10)/len(c.piece))
		began := time.Now()
		Find(c.name, text)
		if d := time.Since(began); d > 15*time.Second {
			t.Errorf("%s: %q over and over: %d bytes took %s", c.name, c.piece, len(text), d)
		}
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
