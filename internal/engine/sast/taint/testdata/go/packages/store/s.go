package store

import "database/sql"

var DB *sql.DB

type Store struct{ DB *sql.DB }

func Conn() *sql.DB { return DB }
