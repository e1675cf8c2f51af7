# Fossil (Debian package fossil): wiki, tickets, forum and settings of a repository.
NEEDS="fossil sqlite3"
LOGIN=/login USER=ann PASSWORD=ann-Secret-7
# What is derived of artifacts, each of which has a row of the table event, is not compared. The
# page of a feature that is not in use yet makes its tables.
CHANGING='^INSERT INTO "?sqlite_sequence|config.*(backoffice|baseurl:)'
VOLATILE='^INSERT INTO "?(accesslog|sqlite_sequence|sqlite_stat1|rcvfrom|unsent|admin_log|blob|mlink|plink|tag|tagxref|unclustered|forumpost|filename|backlink|ticketchng)|^CREATE|^DELETE FROM sqlite_sequence|^ *(fpid|froot|fprev|firt|fmtime|msgid|mtime|lmtime|xfrom|xmsg|fname|fmime|mdel|file) |^\);|config.*backoffice|^INSERT INTO user.*cookie|cexpire|config.*(last-sync|captcha|baseurl:|rid-)'
setup() {
  export HOME="$DIR"; cd "$DIR"; fossil init -A "$USER" repo.fossil >/dev/null; fossil user password "$USER" "$PASSWORD" -R repo.fossil; fossil user new bob bob@merlon.example bob-Secret-7 -R repo.fossil >/dev/null
  printf 'Kept text of Ann.' | fossil wiki create Kept -R repo.fossil -U "$USER" >/dev/null 2>&1
}
serve() { export HOME="$DIR"; exec fossil server --localhost --nojail --port "$PORT" "$DIR/repo.fossil"; }
ready() { curl -s -o /dev/null "$BASE/timeline"; }
dump() { sqlite3 -cmd ".timeout 30000" "$DIR/repo.fossil" .dump | grep -v "INSERT INTO delta" | sed -E "/^INSERT INTO \"?user /s/('s'|'u'|'v'),.*/\\1/"; for p in $(fossil wiki list -R "$DIR/repo.fossil" 2>/dev/null); do fossil wiki export "$p" -R "$DIR/repo.fossil" 2>/dev/null | sed "s/^/wiki $p: /"; done; }
smoke() { curl -s "$BASE/wiki?name=Kept" | grep -q "Kept text of Ann"; }
