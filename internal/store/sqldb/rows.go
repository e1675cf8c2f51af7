package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// insertWidth bounds the values of one INSERT. PostgreSQL takes 65,535, SQLite
// 32,766; beyond a few hundred, more gain nothing.
const insertWidth = 1000

// InsertRows inserts rows of the columns; suffix is what follows the values.
func (tx *Tx) InsertRows(ctx context.Context, table, columns, suffix string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	// All rows have the same number of values.
	width := len(rows[0])
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", width), ", ") + ")"
	for chunk := range slices.Chunk(rows, max(1, insertWidth/width)) {
		query := "INSERT INTO " + table + " (" + columns + ") VALUES " +
			strings.TrimSuffix(strings.Repeat(row+", ", len(chunk)), ", ") + suffix
		if _, err := tx.Exec(ctx, query, slices.Concat(chunk...)...); err != nil {
			return fmt.Errorf("insert into %s: %w", table, err)
		}
	}
	return nil
}

// InChunks calls do with at most 1000 of the values at a time. In of a dialect binds the
// values as one argument, but plans for many thousands of them get slow.
func InChunks(values []string, do func([]string) error) error {
	for chunk := range slices.Chunk(values, 1000) {
		if err := do(chunk); err != nil {
			return err
		}
	}
	return nil
}

// TxTime stands in a prepared row for the time of the transaction.
type TxTime struct{}

// StripNUL removes the character that PostgreSQL cannot store.
func StripNUL(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// StampTxTime returns the rows with the time in place of each TxTime: rows are
// prepared before the transaction begins, and again used when it is run again.
func StampTxTime(t time.Time, rows [][]any) [][]any {
	out := make([][]any, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
		for j, v := range row {
			if v == (TxTime{}) {
				out[i][j] = Millis(t)
			}
		}
	}
	return out
}

// DayNumber is the number of a time's day since 1970, in UTC.
func DayNumber(t time.Time) int64 { return t.Unix() / 86400 }

// UpperBound is the end of a range, exclusive.
func UpperBound(t time.Time) int64 {
	if t.IsZero() {
		return 1 << 60
	}
	return Millis(t)
}
