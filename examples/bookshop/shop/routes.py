"""HTTP routes of the bookshop. Values of requests enter here."""

import yaml
from flask import Flask, jsonify, request

from shop import catalogue

app = Flask(__name__)


@app.route("/books")
def search():
    return jsonify(catalogue.search(request.args.get("title", "")))


@app.route("/books/<isbn>")
def show(isbn):
    return jsonify(catalogue.find(isbn))


@app.route("/books", methods=["POST"])
def import_books():
    # The loader of PyYAML 5.3 that is named here can run code (CVE-2020-14343).
    books = yaml.load(request.get_data(), Loader=yaml.FullLoader)
    return jsonify(len(books)), 201
