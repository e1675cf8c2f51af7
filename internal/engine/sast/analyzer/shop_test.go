package analyzer

// shop is files that use each other, in four languages, and what each of them may
// become: other bodies, members, supertypes, constants and imports.
var shop = map[string][]string{
	"java/Web.java": {`package shop;
import javax.servlet.http.*;
public class Web extends HttpServlet {
  private final Store store = new SqlStore();
  protected void doGet(HttpServletRequest q, HttpServletResponse r) throws Exception {
    String name = q.getParameter("name");
    store.find(Texts.pass(name));
    r.getWriter().write(Texts.page(name));
  }
}
`, `package shop;
import javax.servlet.http.*;
public class Web extends HttpServlet {
  private final Store store = new MemoryStore();
  private String last;
  protected void doGet(HttpServletRequest q, HttpServletResponse r) throws Exception {
    last = q.getParameter("name");
    if (Limits.OPEN) { store.find(last); }
  }
  protected void doPost(HttpServletRequest q, HttpServletResponse r) throws Exception {
    Runtime.getRuntime().exec(last);
    Shared.last = q.getParameter("shared");
  }
}
`, `package shop;
import javax.servlet.http.*;
public class Web extends Base {
  protected void handle(String name) throws Exception {
    new SqlStore().find(Limits.NAME + name);
  }
}
`},
	"java/Base.java": {`package shop;
import javax.servlet.http.*;
public abstract class Base extends HttpServlet {
  protected void doGet(HttpServletRequest q, HttpServletResponse r) throws Exception { handle(q.getParameter("x")); }
  protected abstract void handle(String text) throws Exception;
}
`, `package shop;
public abstract class Base {
  protected void doGet(String q) throws Exception { handle(q); }
  protected abstract void handle(String text) throws Exception;
}
`},
	"java/Store.java": {`package shop;
public interface Store { void find(String name) throws Exception; }
`, `package shop;
public interface Store { void find(String name) throws Exception; void other(int n); }
`},
	"java/SqlStore.java": {`package shop;
import java.sql.*;
public class SqlStore implements Store {
  public void find(String name) throws Exception {
    Connection c = DriverManager.getConnection("jdbc:x");
    c.createStatement().executeQuery("select * from t where n = '" + name + "'");
  }
}
`, `package shop;
import java.sql.*;
public class SqlStore implements Store {
  public void find(String name) throws Exception {
    PreparedStatement s = DriverManager.getConnection("jdbc:x").prepareStatement("select 1 where n = ?");
    s.setString(1, name);
    s.executeQuery();
    Runtime.getRuntime().exec(Shared.last);
  }
}
`, `package shop;
import java.sql.*;
public class SqlStore {
  public void find(String name) throws Exception {
    new ProcessBuilder("sh", "-c", name).start();
  }
}
`},
	"java/MemoryStore.java": {`package shop;
public class MemoryStore implements Store {
  public void find(String name) { }
}
`, `package shop;
public class MemoryStore extends SqlStore { }
`},
	"java/Texts.java": {`package shop;
public class Texts {
  static String pass(String s) { return s; }
  static String page(String s) { return "<p>" + s; }
}
`, `package shop;
public class Texts {
  static String pass(String s) { return "a".equals(s) ? "a" : "b"; }
  static String page(String s) { return org.owasp.encoder.Encode.forHtml(s); }
}
`, `package shop;
public class Texts {
  static String pass(String s) throws Exception { Runtime.getRuntime().exec(s); return s; }
  static String page(String s) { int n = Limits.SIZE; return n > 10 ? s : ""; }
}
`},
	"java/Limits.java": {`package shop;
public class Limits { static final int SIZE = 20; static final boolean OPEN = true; static final String NAME = "n"; }
`, `package shop;
public class Limits { static final int SIZE = 5; static final boolean OPEN = false; static String NAME; }
`},
	"java/Shared.java": {`package shop;
public class Shared { static String last; }
`, `package shop;
public class Shared { static String last; static { last = System.getenv("X"); } }
`},
	"py/app.py": {`from flask import Flask, request
from py.store import find, Store
from py import texts
app = Flask(__name__)

@app.route("/")
def index():
    name = request.args.get("name")
    find(texts.wash(name))
    Store().run(name)
    return texts.page(name)
`, `from flask import Flask, request
from py.store import *
import os
app = Flask(__name__)

@app.route("/a")
def other():
    os.system(last)
    remember(request.args["q"])
    return "a"
`},
	"py/store.py": {`import sqlite3
import subprocess
from .texts import wash
last = "ls"

class Base:
    def run(self, text):
        subprocess.call(self.command(text), shell=True)
    def command(self, text):
        return "ls"

class Store(Base):
    def command(self, text):
        return "ls " + text

def find(name):
    sqlite3.connect("x").execute("select * from t where n = '%s'" % name)

def remember(text):
    global last
    last = text
`, `import sqlite3
last = None

class Store:
    def run(self, text):
        eval(text)

def find(name, other=None):
    sqlite3.connect("x").execute("select * from t where n = ?", (name,))

def remember(text):
    pass
`},
	"py/texts.py": {`def wash(s):
    return s
def page(s):
    return "<p>" + s
`, `import html
def wash(s):
    return int(s)
def page(s):
    return html.escape(s)
`, `from .store import find
def wash(s):
    find(s)
    return "a"
page = wash
`},
	"py/__init__.py": {"", "from .store import find\n"},
	"js/app.js": {`const express = require('express');
const { find, page } = require('./lib');
const app = express();
app.get('/', (req, res) => { find(req.query.name); res.send(page(req.query.name)); });
`, `const express = require('express');
const lib = require('./lib');
const app = express();
lib.start(app, (text) => require('child_process').exec(text));
`},
	"js/lib.js": {`const cp = require('child_process');
const { mode } = require('./config');
exports.find = (name) => { if (mode === 'on') cp.exec('find ' + name); };
exports.page = (text) => '<p>' + text;
exports.start = (app, run) => app.get('/x', (req, res) => run(req.query.x));
`, `const fs = require('fs');
module.exports = { find(name) { return fs.readFileSync('/a/' + name); }, page: encodeURIComponent, start() {} };
`, `export * from './other';
`},
	"js/config.js": {`exports.mode = 'on';
`, `exports.mode = 'off';
`, `exports.mode = process.env.MODE;
`},
	"js/other.js": {`import cp from 'child_process';
export function find(name) { cp.execSync(name); }
export const page = (x) => x;
`, `export function find() {}
`},
	"go/go.mod": {"module example.org/shop\n", "module example.org/other\n"},
	"go/main.go": {`package main

import (
	"net/http"

	"example.org/shop/store"
)

func main() {
	var s store.Store = store.SQL{}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Find(clean(r.FormValue("name")))
		w.Write([]byte("<p>" + r.FormValue("x")))
	})
}
`, `package main

import (
	"net/http"
	"os/exec"

	"example.org/shop/store"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		store.Last = r.FormValue("name")
		exec.Command("sh", "-c", store.Last).Run()
	})
}
`},
	"go/clean.go": {`package main

func clean(s string) string { return s }
`, `package main

import "strconv"

func clean(s string) string { n, _ := strconv.Atoi(s); return strconv.Itoa(n) }
`},
	"go/store/store.go": {`package store

import "database/sql"

type Store interface{ Find(name string) }

type SQL struct{ db *sql.DB }

func (s SQL) Find(name string) { s.db.Query("select 1 where n = '" + name + "'") }

var Last string
`, `package store

import "os/exec"

type Store interface{ Find(name string); Close() }

type SQL struct{}

func (s SQL) Find(name string) { exec.Command("sh", "-c", name).Run() }
func (s SQL) Close() {}

var Last = "ls"
`},
	"conf/app.properties": {"a=1\n", "a=2\n"},
}
