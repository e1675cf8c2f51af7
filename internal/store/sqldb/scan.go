package sqldb

import (
	"database/sql"
)

// ForEach calls do for every row and closes rows.
func ForEach(rows *sql.Rows, err error, do func(*sql.Rows) error) error {
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ScanString scans a row of one text.
func ScanString(rows *sql.Rows) (s string, err error) { return s, rows.Scan(&s) }

// Scanner is a row: *sql.Row or *sql.Rows.
type Scanner interface{ Scan(...any) error }
