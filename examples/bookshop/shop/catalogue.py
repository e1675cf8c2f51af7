"""The catalogue: what can be asked about books."""

from shop import database


def search(title):
    words = title.strip()
    return database.books_by_title(words)


def find(isbn):
    return database.book_by_isbn(isbn.replace("-", ""))
