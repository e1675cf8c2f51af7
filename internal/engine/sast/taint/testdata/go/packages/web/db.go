package web

import "database/sql"

var db *sql.DB
var db2 = open()
var db3, _ = sql.Open("x", "y")

type S struct{ db *sql.DB }

func open() *sql.DB        { d, _ := sql.Open("x", "y"); return d }
func (s *S) conn() *sql.DB { return s.db }
