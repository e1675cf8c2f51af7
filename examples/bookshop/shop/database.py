"""Queries of the bookshop."""

import sqlite3


def books_by_title(title):
    # Vulnerable: the title becomes part of the statement.
    with sqlite3.connect("bookshop.db") as db:
        return db.execute("SELECT isbn, title FROM book WHERE title LIKE '%" + title + "%'").fetchall()


def book_by_isbn(isbn):
    # Sound: the value is bound, so it cannot change the statement.
    with sqlite3.connect("bookshop.db") as db:
        return db.execute("SELECT isbn, title FROM book WHERE isbn = ?", (isbn,)).fetchone()
