package rpmdb

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver

	"merlon/internal/errs"
)

// This file reads a database in SQLite: the table Packages holds a header in each row.

// readSQLite reads the file from a copy, because the driver opens files by name.
func readSQLite(f dbFile, l *packageList) (err error) {
	// The file name is random and the mode 0600, so no other user can replace the copy.
	temp, err := os.CreateTemp("", "merlon-rpm-*.sqlite")
	if err != nil {
		return fmt.Errorf("make room for the database of rpm: %w", err)
	}
	defer func() {
		err = errors.Join(err, os.Remove(temp.Name()))
	}()
	_, err = io.Copy(temp, io.NewSectionReader(f, 0, f.size))
	if err = errors.Join(err, temp.Close()); err != nil {
		return fmt.Errorf("copy the database of rpm: %w", err)
	}
	// Its schema is not trusted: no function with an effect runs from it.
	address := url.URL{Scheme: "file", Opaque: temp.Name(), RawQuery: "mode=ro&immutable=1&_pragma=trusted_schema(0)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return fmt.Errorf("open the database of rpm: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The limits are part of the query: a header of gigabytes would be in memory before it could be
	// refused. One row more than allowed lets addHeader report the excess.
	rows, err := db.QueryContext(l.ctx, "SELECT blob FROM Packages WHERE length(blob) <= ? LIMIT ?", maxHeader,
		maxPackages+1)
	if err != nil {
		return l.damagedError(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		// RawBytes is valid until the next row only; addHeader copies what it keeps.
		var header sql.RawBytes
		if err := rows.Scan(&header); err != nil {
			return l.damagedError(err)
		}
		if err := l.addHeader(header); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return l.damagedError(err)
	}
	return nil
}

// damagedError says that the database cannot be read on, unless the context has ended.
func (l *packageList) damagedError(err error) error {
	if stop := l.ctx.Err(); stop != nil {
		return stop
	}
	return errs.E(errs.Invalid, "the database of rpm cannot be read: %v", err)
}
