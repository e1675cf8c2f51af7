# Node-RED (npm package node-red): flows of an automation, with an editor made by script over
# an API. To install it: npm install --prefix /opt/node-red node-red
NEEDS="/opt/node-red/node_modules/node-red/red.js node"
LOGIN=/ USER=ann PASSWORD=ann-Secret-7
AUTH='{"name":"administrator","json":{"url":"/auth/token","body":{"client_id":"node-red-editor","grant_type":"password","scope":"*","username":"ann","password":"ann-Secret-7"},"token":"/access_token"},"marker":{"url":"/settings/user","status":200}}'
CHANGING='^\.sessions'
VOLATILE='^\.sessions|\.config\.runtime'
setup() {
  mkdir -p "$DIR/data"; hash=$(cd /opt/node-red/node_modules/node-red && PASSWORD="$PASSWORD" node -e 'console.log(require("bcryptjs").hashSync(process.env.PASSWORD, 8))')
  printf 'module.exports = {flowFile: "flows.json", credentialSecret: "kept", adminAuth: {type: "credentials", users: [{username: "%s", password: "%s", permissions: "*"}]}, editorTheme: {tours: false, palette: {allowInstall: false}}, telemetry: {enabled: false, updateNotification: false}, functionExternalModules: false};\n' "$USER" "$hash" > "$DIR/data/settings.js"
  printf '[{"id":"a1","type":"tab","label":"Kept flow"},{"id":"b1","type":"http in","z":"a1","url":"/kept","method":"get","wires":[["b2"]]},{"id":"b2","type":"template","z":"a1","template":"Kept text of Ann","wires":[["b3"]]},{"id":"b3","type":"http response","z":"a1","wires":[]}]' > "$DIR/data/flows.json"
}
serve() { cd "$DIR/data" && exec node /opt/node-red/node_modules/node-red/red.js --userDir "$DIR/data" --settings "$DIR/data/settings.js" --port "$PORT"; }
ready() { sleep 3; curl -s -o /dev/null "$BASE/kept"; }
dump() { cd "$DIR/data" && find . -type f ! -path "./node_modules/*" | sed 's|^\./||' | sort | while read -r f; do sed "s|^|$f: |" "$f"; echo; done; }
smoke() { curl -s "$BASE/kept" | grep -q "Kept text of Ann"; }
