# Request Tracker (Debian packages request-tracker5, rt5-db-sqlite): tickets, users, queues and
# rights, in Perl with SQLite. Its mails are recorded, and compared like its database.
NEEDS="/usr/share/request-tracker5/libexec/rt-server /usr/sbin/rt-setup-database-5 sqlite3"
LOGIN=/NoAuth/Login.html USER=root PASSWORD=ann-Secret-7
# Rows that say who did what when, and groups and links of each ticket, are derived of tickets; pages
# are remembered as visited. A page that offers a feed makes the token of its reader, which is
# not dumped.
VOLATILE='^INSERT INTO "?(sessions|sqlite_|Transactions|Principals|CachedGroupMembers|GroupMembers|ObjectScrips|Links)|RT::Ticket-Role|RecentlyViewedTickets|ContentHistory'
CHANGING='RecentlyViewedTickets|^INSERT INTO (sqlite_sequence|sessions)'
settings() {
  export RT_SITE_CONFIG_DIR="$DIR/conf.d" RT_SITE_CONFIG="$DIR/RT_SiteConfig.pm"
}
setup() {
  mkdir -p "$DIR/conf.d" "$DIR/data" "$DIR/mason" "$DIR/sessions"; settings
  printf '#!/bin/sh\ncat >> "%s/mails"\n' "$DIR" > "$DIR/mail"; chmod +x "$DIR/mail"; touch "$DIR/mails"
  cat > "$RT_SITE_CONFIG" <<P
Set(\$rtname, 'ann'); Set(\$Organization, 'merlon.example'); Set(\$WebDomain, '127.0.0.1'); Set(\$WebPort, $PORT); Set(\$WebPath, '');
Set(\$CorrespondAddress, 'rt\@merlon.example'); Set(\$CommentAddress, 'rt\@merlon.example');
Set(\$DatabaseType, 'SQLite'); Set(\$DatabaseName, '$DIR/data/rt.db'); Set(\$SendmailPath, '$DIR/mail'); Set(\$LogToSyslog, undef); Set(\$LogToSTDERR, 'error');
\$RT::MasonDataDir = '$DIR/mason'; \$RT::MasonSessionDir = '$DIR/sessions';
1;
P
  printf '%s' "$PASSWORD" > "$DIR/password"
  rt-setup-database-5 --action init --skip-create --root-password-file "$DIR/password" > "$DIR/install.log" 2>&1
}
serve() { settings; exec /usr/share/request-tracker5/libexec/rt-server --port "$PORT" --host 127.0.0.1; }
sign_in() { curl -s -L -c "$DIR/jar" -b "$DIR/jar" -o "$DIR/page" -e "$BASE/" "$BASE/NoAuth/Login.html" -d "user=$USER" -d "pass=$PASSWORD"; }
ready() { sign_in; curl -s -L -b "$DIR/jar" -o "$DIR/page" -e "$BASE/" "$BASE/Ticket/Create.html" -d id=new -d Queue=1 -d Status=new -d "Subject=Kept ticket" -d "Content=Text of Ann" -d SubmitTicket=Create; }
dump() { sqlite3 -cmd ".timeout 30000" "$DIR/data/rt.db" ".backup '$DIR/copy.db'"; sqlite3 "$DIR/copy.db" "UPDATE Users SET AuthToken = NULL, LastUpdated = NULL, LastUpdatedBy = 0;" .dump; sed -n 's/^\(To\|Cc\|Bcc\): /mail to &/p' "$DIR/mails"; }
smoke() { sign_in; curl -s -b "$DIR/jar" -e "$BASE/" "$BASE/Ticket/Display.html?id=1" | grep -q "Kept ticket"; }
