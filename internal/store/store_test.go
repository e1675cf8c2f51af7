package store_test

import (
	"testing"

	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestIn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *storetest.Clock) {
		err := db.Tx(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO deployment (name, value) VALUES (?, ?), (?, ?)", "a", "1", "b",
				"2")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		cond, arg := db.Dialect.In("name", []string{"b", "c"})
		var got string
		if err := db.QueryRow(t.Context(), "SELECT value FROM deployment WHERE "+cond, arg).Scan(&got); err != nil ||
			got != "2" {
			t.Fatalf("got %q, %v; want 2", got, err)
		}
	})
}
