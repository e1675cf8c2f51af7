# PocketBase (Go module github.com/pocketbase/pocketbase): collections of records with an API
# and an administration made by script. To build it:
# GOBIN=/usr/local/bin go install github.com/pocketbase/pocketbase/examples/base@v0.25.9
NEEDS="base sqlite3"
LOGIN=/_/ USER=ann@merlon.example PASSWORD=ann-Secret-77
AUTH='{"name":"administrator","json":{"url":"/api/collections/_superusers/auth-with-password","body":{"identity":"ann@merlon.example","password":"ann-Secret-77"},"token":"/token"},"marker":{"url":"/api/collections","status":200}}'
CHANGING='^INSERT INTO "?sqlite_'
VOLATILE='^INSERT INTO "?(sqlite_|_authOrigins|_logs)|^PRAGMA|^ANALYZE'
setup() { mkdir -p "$DIR/data" "$DIR/public"; base superuser upsert "$USER" "$PASSWORD" --dir "$DIR/data" --automigrate=false > "$DIR/install.log" 2>&1; }
serve() { cd "$DIR" && exec base serve --http "127.0.0.1:$PORT" --dir "$DIR/data" --publicDir "$DIR/public" --automigrate=false; }
api() { curl -s -o "$DIR/answer" -X "$1" "$BASE$2" -H "Content-Type: application/json" -H "Authorization: $(cat "$DIR/token" 2>/dev/null)" ${3:+-d "$3"}; }
sign_in() { : > "$DIR/token"; api POST /api/collections/_superusers/auth-with-password "{\"identity\":\"$USER\",\"password\":\"$PASSWORD\"}"; sed -n 's/.*"token":"\([^"]*\)".*/\1/p' "$DIR/answer" > "$DIR/token"; }
ready() {
  sign_in
  # It mails its users when they sign in from another program, such as the scanner.
  api PATCH /api/collections/_superusers '{"authAlert":{"enabled":false}}'
  api POST /api/collections '{"name":"notes","type":"base","fields":[{"name":"title","type":"text"},{"name":"link","type":"url"},{"name":"done","type":"bool"}],"listRule":"","viewRule":"","createRule":"@request.auth.id != \"\""}'
  for i in 1 2 3; do api POST /api/collections/notes/records "{\"title\":\"Kept $i\",\"link\":\"https://merlon.example/\"}"; done
  api POST /api/collections/users/records '{"email":"bob@merlon.example","password":"bob-Secret-7","passwordConfirm":"bob-Secret-7","name":"Bob"}'
}
dump() { sqlite3 -cmd ".timeout 30000" "$DIR/data/data.db" .dump; (cd "$DIR/data" && find storage backups -type f 2>/dev/null | sort); }
smoke() { sign_in; api GET "/api/collections/notes/records?sort=title"; grep -q "Kept 3" "$DIR/answer"; }
