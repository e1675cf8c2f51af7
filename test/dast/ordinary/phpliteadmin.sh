# phpLiteAdmin (Debian package phpliteadmin): an administration of SQLite databases, in which
# nearly every form changes data or structure.
NEEDS="/usr/share/phpliteadmin/phpliteadmin.php php sqlite3"
LOGIN=/phpliteadmin.php USER= PASSWORD=ann-Secret-7
# Each database begins and ends with the same lines. Its form for a new row offers functions of
# SQL for each value: of the mark, the first one (abs) makes 0.0.
VOLATILE='^(BEGIN TRANSACTION|COMMIT|PRAGMA)|^INSERT INTO note VALUES\([3-9],NULL,.0\.0.\)'
setup() {
  mkdir -p "$DIR/app"; cd "$DIR/app"; cp -rL /usr/share/phpliteadmin/languages /usr/share/phpliteadmin/phpliteadmin.php .; mkdir -p "$DIR/data" "$DIR/sessions"
  printf "<?php\n\$password = '%s'; \$directory = '%s/data'; \$theme = ''; \$subdirectories = false;\n" "$PASSWORD" "$DIR" > phpliteadmin.config.php
  sqlite3 "$DIR/data/kept.sqlite" "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL); CREATE TABLE note (id INTEGER PRIMARY KEY, person INTEGER REFERENCES person(id), text TEXT); CREATE VIEW texts AS SELECT name, text FROM person JOIN note ON person.id = note.person; CREATE INDEX by_person ON note(person); INSERT INTO person VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO note VALUES (1, 1, 'Kept text'), (2, 2, 'Text of Bob');"
}
serve() { cd "$DIR/app" && PHP_CLI_SERVER_WORKERS=3 exec php -d session.save_path="$DIR/sessions" -d display_errors=0 -S "127.0.0.1:$PORT"; }
ready() { curl -s -o /dev/null "$BASE/phpliteadmin.php"; }
dump() { cd "$DIR/data" && for f in *; do echo "file $f"; sqlite3 "$f" .dump; done; cat "$DIR/app/phpliteadmin.config.php"; }
smoke() {
  token=$(curl -s -c "$DIR/jar" -b "$DIR/jar" "$BASE/phpliteadmin.php" | sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p' | head -1)
  curl -s -c "$DIR/jar" -b "$DIR/jar" -o /dev/null -L "$BASE/phpliteadmin.php" -d "password=$PASSWORD" -d login=true -d "token=$token"
  curl -s -b "$DIR/jar" "$BASE/phpliteadmin.php?action=row_view&table=note&database=$DIR/data/kept.sqlite" | grep -q "Kept text"
}
