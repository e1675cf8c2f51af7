package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"merlon/internal/store"
)

// Dump returns all rows of all tables as text, with what is compressed in them.
func Dump(t testing.TB, db *store.DB) string {
	t.Helper()
	tables := list(t, db, "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type "+
		"= 'table' ORDER BY m.name",
		"SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() ORDER "+
			"BY table_name")
	var b strings.Builder
	count := 0
	for begin := 0; begin < len(tables); {
		name := tables[begin][0]
		var columns []string
		for ; begin < len(tables) && tables[begin][0] == name; begin++ {
			columns = append(columns, `"`+tables[begin][1]+`"`)
		}
		count++
		dumpTable(t, db, &b, name, columns)
	}
	// A query that finds no tables would make every search for secrets succeed.
	if count < 30 {
		t.Fatalf("there are %d tables", count)
	}
	return b.String()
}

// list returns pairs of texts by the first query that the database knows.
func list(t testing.TB, db *store.DB, queries ...string) (out [][2]string) {
	t.Helper()
	for n, query := range queries {
		rows, err := db.Query(t.Context(), query)
		if err != nil && n < len(queries)-1 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var pair [2]string
			if err := rows.Scan(&pair[0], &pair[1]); err != nil {
				t.Fatal(err)
			}
			out = append(out, pair)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		break
	}
	return out
}

// dumpTable writes the rows of one table. Whatever decompresses is written as plain text, so
// that a test finds a secret also in compressed columns.
func dumpTable(t testing.TB, db *store.DB, b *strings.Builder, name string, columns []string) {
	t.Helper()
	rows, err := db.Query(t.Context(), "SELECT "+strings.Join(columns, ", ")+` FROM "`+name+`"`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			v := *v.(*any)
			if raw, ok := v.([]byte); ok {
				if plain, err := s2.Decode(nil, raw); err == nil {
					raw = plain
				}
				v = string(raw)
			}
			fmt.Fprintf(b, "%s.%s: %v\n", name, columns[i], v)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
}
