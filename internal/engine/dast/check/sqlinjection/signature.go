package sqlinjection

import (
	"strings"

	"merlon/internal/lazyregexp"
)

// names are the databases by the short names of this package.
var names = map[string]string{"mysql": "MySQL or MariaDB", "postgres": "PostgreSQL", "sqlite": "SQLite",
	"mssql": "Microsoft SQL Server", "oracle": "Oracle", "hsqldb": "HSQLDB",
	"derby": "Derby", "h2": "H2", "db2": "DB2", "access": "Microsoft Access", "sybase": "Sybase",
	"informix": "Informix", "firebird": "Firebird", "orm": "a library that makes SQL"}

// signatures are texts of errors by which a database is known. A text alone proves
// nothing: it only tells a failed statement from a page.
var signatures = []struct {
	dbms string
	text *lazyregexp.Regexp
}{
	{"mysql", lazyregexp.New(`(?i)you have an error in your SQL syntax|check the manual that (?:corresponds to|fits) your (?:MySQL|MariaDB)|MySqlException|valid MySQL result|mysqli?_(?:fetch|num_rows|query)|com\.mysql\.|org\.mariadb\.|SQLSTATE\[\w+\](?:: |.{0,40})(?:Syntax error or access|.{0,60}\bMySQL\b)|Unknown column '[^']{0,80}' in '|MySQLSyntaxErrorException|pymysql\.err|Pdo[./_\\]Mysql`)},
	{"postgres", lazyregexp.New(`(?i)PostgreSQL.{0,60}ERROR|PG::(?:Syntax|Undefined|Invalid)\w*|org\.postgresql\.|Npgsql\.|psycopg2?\.|unterminated quoted string at or near|syntax error at or near "|invalid input syntax for (?:type )?\w+|pq: |pg_(?:query|exec)\(\)`)},
	{"sqlite", lazyregexp.New(`(?i)SQLite/JDBCDriver|SQLITE_ERROR|sqlite3?\.(?:OperationalError|Exception)|System\.Data\.SQLite|SQLite3::|unrecognized token: "|near "[^"]{0,80}": syntax error|SQL logic error|\[SQLITE_|no such column: `)},
	{"mssql", lazyregexp.New(`(?i)unclosed quotation mark after the character string|incorrect syntax near|(?:Microsoft|System)\.Data\.SqlClient|com\.microsoft\.sqlserver|\[SQL Server\]|ODBC SQL Server Driver|SqlException|conversion failed when converting the \w+ value|mssql_query\(`)},
	{"oracle", lazyregexp.New(`\bORA-\d{5}\b|(?i:oracle\.jdbc|quoted string not properly terminated|SQL command not properly ended|OracleException)`)},
	{"hsqldb", lazyregexp.New(`(?i)org\.hsqldb|unexpected end of statement: |malformed string: |unexpected token: .{0,80}|user lacks privilege or object not found: |malformed numeric constant|unknown token: `)},
	{"derby", lazyregexp.New(`(?i)org\.apache\.derby|ERROR 42X01|Lexical error at line \d+, column \d+\.\s+Encountered|Syntax error: Encountered "`)},
	{"h2", lazyregexp.New(`(?i)org\.h2\.jdbc|Syntax error in SQL statement "|JdbcSQLSyntaxErrorException|Data conversion error converting`)},
	{"db2", lazyregexp.New(`(?i)CLI Driver.{0,40}DB2|\bSQLCODE[=:] ?-\d+.{0,40}SQLSTATE|com\.ibm\.db2|DB2 SQL error|\[IBM\]\[CLI Driver\]`)},
	{"access", lazyregexp.New(`(?i)Microsoft Access (?:\d+ )?Driver|JET Database Engine|Access Database Engine|syntax error \(missing operator\) in query expression`)},
	{"sybase", lazyregexp.New(`(?i)Sybase message|com\.sybase\.jdbc|SybSQLException`)},
	{"informix", lazyregexp.New(`(?i)com\.informix\.jdbc|Dynamic Page Generation Error|ODBC Informix driver`)},
	{"firebird", lazyregexp.New(`(?i)Dynamic SQL Error|org\.firebirdsql|\bibase_`)},
	{"orm", lazyregexp.New(`(?i)org\.hibernate\.(?:QueryException|exception|hql)|QuerySyntaxException|unexpected token: .{0,40}\[|bad SQL grammar|PreparedStatementCallback|StatementCallback|java\.sql\.SQL\w*Exception|SQLSyntaxErrorException|SequelizeDatabaseError|SQLAlchemyError|sqlalchemy\.exc\.|ActiveRecord::StatementInvalid|django\.db\.utils\.|Doctrine\\DBAL|PDOException|SQLSTATE\[|ODBC .{0,20}Driver.{0,40}error|JDBC.{0,20}(?:error|exception)|SQL (?:syntax )?error`)},
}

// maxError bounds the text that is searched for an error.
const maxError = 256 << 10

// errorSignature names the database whose error a page shows, and that another page does not
// show; empty: none.
func errorSignature(text, without string) string {
	if text == without {
		return ""
	}
	text, without = text[:min(len(text), maxError)], without[:min(len(without), maxError)]
	text = strings.NewReplacer("&#39;", "'", "&#039;", "'", "&#x27;", "'", "&quot;", `"`, "&#34;", `"`).Replace(text)
	for _, s := range signatures {
		if s.text.MatchString(text) && !s.text.MatchString(without) {
			return s.dbms
		}
	}
	return ""
}
