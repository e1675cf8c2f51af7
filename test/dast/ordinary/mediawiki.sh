# MediaWiki (Debian package mediawiki) with SQLite.
NEEDS="/usr/share/mediawiki/index.php php sqlite3"
LOGIN='/index.php?title=Special:UserLogin' USER=Ann PASSWORD=ann-Secret-77
CHANGING='^INSERT INTO (sqlite_sequence|objectcache|module_deps|l10n_cache|site_stats|job)|user_touched'
VOLATILE='^INSERT INTO (objectcache|l10n_cache|module_deps|job|sqlite_sequence|searchindex|querycache|site_stats|updatelog|recentchanges|watchlist|log_search|user_newtalk)|user_touched|page_touched|sessions'
setup() {
  cp -rL /usr/share/mediawiki "$DIR/app" 2>/dev/null; cd "$DIR/app"; rm -f LocalSettings.php; mkdir -p "$DIR/db" "$DIR/sessions" "$DIR/cache"; rm -rf mw-config images; mkdir -p images cache; cp -rL /var/lib/mediawiki/mw-config . 2>/dev/null || true
  php maintenance/install.php --dbtype sqlite --dbpath "$DIR/db" --dbname wiki --pass "$PASSWORD" --scriptpath "" --server "$BASE" --confpath "$DIR/app" "Wiki of Ann" "$USER" >"$DIR/install.log" 2>&1
  printf '\n$wgJobRunRate = 0;\n$wgEnableEmail = false;\n$wgMainCacheType = CACHE_NONE;\n$wgCacheDirectory = "%s/cache";\n' "$DIR" >> LocalSettings.php
  printf 'Kept text of Ann.' | php maintenance/edit.php -u "$USER" Kept >/dev/null 2>&1
  true
}
serve() { cd "$DIR/app" && PHP_CLI_SERVER_WORKERS=3 exec php -d session.save_path="$DIR/sessions" -d display_errors=0 -S "127.0.0.1:$PORT"; }
ready() { curl -s -o /dev/null "$BASE/index.php?title=Kept"; }
dump() { sqlite3 "$DIR/db/wiki.sqlite" .dump | sed -E "/^INSERT INTO \"?(user|page)\"? /s/X?'20[0-9]{12}'|X'3230[0-9a-f]+'/time/g"; }
smoke() { curl -s "$BASE/index.php?title=Kept" | grep -q "Kept text of Ann"; }
