# Shaarli, shared bookmarks (Debian package shaarli). It keeps its settings and bookmarks in
# files.
NEEDS="/usr/share/shaarli/index.php php"
LOGIN=/login USER=ann PASSWORD=ann-Secret-7
CHANGING='(pagecache|cache|tmp|history\.php)'
VOLATILE='(pagecache|cache|tmp|history\.php|ipbans\.php|lastupdatecheck|log\.txt|sessions?)'
setup() {
  cp -rL /usr/share/shaarli "$DIR/app"; cd "$DIR/app"
  grep -rlE "/(var/[a-z]*|usr/share)/shaarli/" . | xargs sed -i "s#/usr/share/shaarli/#$DIR/app/#g; s#/var/lib/shaarli/#$DIR/app/#g; s#/var/cache/shaarli/#$DIR/app/#g"
  rm -rf data cache pagecache tmp; mkdir -p data cache pagecache tmp "$DIR/sessions"
}
serve() { cd "$DIR/app" && PHP_CLI_SERVER_WORKERS=3 exec php -d session.save_path="$DIR/sessions" -d error_reporting=0 -d display_errors=0 -S "127.0.0.1:$PORT" index.php; }
ready() {
  page=$(curl -s -c "$DIR/jar" "$BASE/install")
  curl -s -b "$DIR/jar" -o /dev/null "$BASE/install" --data-urlencode "setlogin=$USER" --data-urlencode "setpassword=$PASSWORD" --data-urlencode "title=Links of Ann" -d continent=Europe -d city=Berlin -d language=en -d enableApi=1
  sign_in
  token=$(curl -s -b "$DIR/jar" "$BASE/admin/shaare?post=https://merlon.example/kept" | sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p' | head -1)
  curl -s -b "$DIR/jar" -o /dev/null "$BASE/admin/shaare" -d "lf_url=https://merlon.example/kept" -d "lf_title=Kept link" -d "lf_description=Text of Ann" -d "lf_tags=one two" -d "token=$token" -d save_edit=Save -d lf_id=
}
sign_in() {
  token=$(curl -s -c "$DIR/jar" "$BASE/login" | sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p' | head -1)
  curl -s -b "$DIR/jar" -c "$DIR/jar" -o /dev/null "$BASE/login" -d "login=$USER" -d "password=$PASSWORD" -d "token=$token"
}
dump() {
  cd "$DIR/app/data" && for f in *; do
    [ "$f" = datastore.php ] && php -r 'foreach ((array)unserialize(gzinflate(base64_decode(substr(file_get_contents("datastore.php"), 8, -9)))) as $p) { echo "datastore.php: ", json_encode(is_array($p) || is_object($p) ? array_map("strval", []) : $p), "\n"; }' 2>/dev/null
    [ "$f" = datastore.php ] && continue
    [ -f "$f" ] && sed "s|^|$f: |" "$f"
  done
  curl -s "$BASE/?do=atom" >/dev/null; curl -s "$BASE/feed/atom?nb=all" | tr '\n' ' ' | sed 's/<entry>/\n<entry>/g' | sed -n 's/^<entry>/bookmark: /p'
}
smoke() { sign_in; curl -s -b "$DIR/jar" "$BASE/" | grep -q "Kept link" && curl -s -b "$DIR/jar" "$BASE/admin/configure" | grep -q "Links of Ann"; }
