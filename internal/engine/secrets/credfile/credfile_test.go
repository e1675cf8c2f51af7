package credfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/finding"
)

// found returns what is found in a text as "rule=value".
func found(name, text string) []string {
	var out []string
	matches, _ := Find(name, text)
	for _, m := range matches {
		out = append(out, strings.TrimPrefix(m.Rule.ID, "secrets/credentials/")+"="+text[m.Start:m.End])
	}
	return out
}

const hash = "$6$Zr0tLm2x$kQ8v1YdN3wFhU7sB5cXjG9pAeT4oRiHlMnVbKqWzSyDfEuJgPxCtOa2L6.81mYvNwQkRrUdEhXsTjGbFpZoCA0"

// Each case is a file of a format as its program writes it.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"home/.netrc", "# mine\nmachine ftp.corp.net\n  login joe\n  password m0nkey-7\ndefault login anonymous " +
			"password joe@corp.net\nmacdef init\nput password hidden9\n\nmachine b login c password \"two words\"\n",
			[]string{"netrc=m0nkey-7", "netrc=joe@corp.net", "netrc=two words"}},
		{"_netrc", "machine git.corp.net login joe password ${TOKEN}\n", nil},
		{".git-credentials", "https://joe:s3c!@x#9@git.corp.net\nhttps://tok3nalone77@git.corp.net\n",
			[]string{"git-credentials=s3c!@x#9", "git-credentials=tok3nalone77"}},
		{"etc/pgpass.conf", "#a comment\ndb.corp.net:5432:*:joe:le\\:mon9\nh:1:d:u:<password>\n",
			[]string{"pgpass=le\\:mon9"}},
		{".my.cnf", "[client]\nuser=joe\npassword=\"blue;sky4\" # c\n[mysqld]\nport=3306\n",
			[]string{"mysql-options=blue;sky4"}},
		{".bash_history", "ls -la\nmysql -u joe -pGr33nTea -h db\ncurl -u joe:0range77 https://x.corp.net\nexport " +
			"API_TOKEN=zz91kk20aa\nsshpass -p 'bl4ck tea' ssh x\nexport A_TOKEN=$B\n",
			[]string{"history-of-commands=Gr33nTea", "history-of-commands=0range77", "history-of-commands=zz91kk20aa",
				"history-of-commands=bl4ck tea"}},
		{".mysql_history", "GRANT ALL ON *.* TO 'joe'@'%' IDENTIFIED BY 'Ch1pmunk';\nselect 1;\n",
			[]string{"history-of-commands=Ch1pmunk"}},
		{".zshrc", "export PATH=/bin\nexport DEPLOY_TOKEN='ab12cd34ef'\nsetopt nomatch\nalias k=kubectl\nexport " +
			"X_KEY_ID=abc\n", []string{"shell-profile=ab12cd34ef"}},
		{".docker/config.json",
			`{"auths":{"r.corp.net":{"auth":"am9lOnNlY3JldDE="},"e":{"auth":""}},"credsStore":"pass"}`,
			[]string{"docker-config=am9lOnNlY3JldDE="}},
		{".npmrc", "registry=https://r.corp.net\n//r.corp.net/:_authToken=1f2e3d4c5b\n_auth = " +
			"am9lOmpvZQ==\n//x/:_authToken=${NPM_TOKEN}\n",
			[]string{"npm-config=1f2e3d4c5b", "npm-config=am9lOmpvZQ=="}},
		{".pypirc", "[pypi]\nusername: joe\npassword: b4nana!\n", []string{"pypi-config=b4nana!"}},
		{"sites/sitemanager.xml",
			`<S><Server><Host>h</Host><User>u</User><Pass encoding="base64">cGx1bTc=</Pass></Server></S>`,
			[]string{"file-transfer-site=cGx1bTc="}},
		{".vscode/sftp.json", "{\n // where\n \"host\": \"h.corp.net\", \"password\": \"pl\\\"um7\", \"passphrase\": " +
			"null, }", []string{`file-transfer-settings=pl\"um7`}},
		{".idea/dataSources.local.xml",
			`<a><data-source name="x"><user-name>joe</user-name><jdbc-password>dfe8</jdbc-password></data-source></a>`,
			[]string{"ide-connections=dfe8"}},
		{"irssi/config", "servers = (\n { address = \"irc.corp.net\"; password = \"qu1nce\"; }\n);\n  password = " +
			"\"p3ach\";\n", []string{"chat-client=p3ach"}},
		{".msmtprc", "account work\nuser joe\npassword ch3rry\n", []string{"mail-client=ch3rry"}},
		{".muttrc", "set imap_user = \"joe\"\nset imap_pass = \"dam5on\"\n", []string{"mail-client=dam5on"}},
		{"etc/postfix/sasl_passwd", "[smtp.corp.net]:587 joe:l1me\n", []string{"mail-relay=l1me"}},
		{"etc/shadow", "root:*:1:0:9:7:::\njoe:" + hash + ":1:0:9:7:::\n", []string{"password-hashes=" + hash}},
		{"web/.htpasswd", "joe:abJnggxhB/yWI\nann:$apr1$tp8zlkbm$fjg65tIaeipoBh62bEjIy0\n",
			[]string{"password-hashes=abJnggxhB/yWI", "password-hashes=$apr1$tp8zlkbm$fjg65tIaeipoBh62bEjIy0"}},
		{"users.ldif", "dn: cn=joe\nuserPassword:: e1NTSEF9YWJj\n", []string{"directory-entries=e1NTSEF9YWJj"}},
		{"ppp/chap-secrets", "# client server secret ip\njoe * \"gr4pe " +
			"vine\" *\n", []string{"network-secrets=gr4pe vine"}},
		{"wpa_supplicant.conf", "network={\n ssid=\"home\"\n psk=\"fig tree 5\"\n}\n", []string{"wireless=fig tree 5"}},
		{".aws/credentials", "[default]\naws_access_key_id = ID\naws_secret_access_key = kiw1kiw2kiw3kiw4\n",
			[]string{"cloud-credentials=kiw1kiw2kiw3kiw4"}},
		{"u/rclone.conf", "[s]\ntype = sftp\nuser = joe\npass = x9Yz0\n", []string{"rclone-config=x9Yz0"}},
		{".kube/config", "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: AAAA\n  name: " +
			"c\nusers:\n- name: joe\n  user:\n    token: t0kt0kt0k\n    client-key-data: S0VZ\ncurrent-context: c\n",
			[]string{"kube-config=t0kt0kt0k", "kube-config=S0VZ"}},
		{".terraformrc", "credentials \"app.corp.net\" {\n  token = \"tt.77ee\"\n}\n",
			[]string{"terraform-credentials=tt.77ee"}},
		{"x.tfstate", `{"outputs":{"db":{"value":"gu4va-gu4va","sensitive":true},"n":{"value":"plain-text"}},"resources":[{"instances":[{"attributes":{"password":"m3dlar-77"}}]}]}`,
			[]string{"terraform-state=gu4va-gu4va", "terraform-state=m3dlar-77"}},
		{"group_vars/all.yml", "ansible_user: joe\nansible_ssh_pass: n0cturne\nansible_become_pass: '{{ " +
			"vault_pass }}'\n", []string{"inventory=n0cturne"}},
		{"config/master.key", "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n",
			[]string{"rails-key=0f1e2d3c4b5a69788796a5b4c3d2e1f0"}},
		{"wp-config.php", "<?php\ndefine( 'DB_PASSWORD', 'q9' );\ndefine('AUTH_KEY', 'put your unique phrase " +
			"here');\ndefine('NONCE_SALT',  'a;{$b #{c %(d 9Kq,L8?zR2&xW5=vT7^nB3!mC6+jH4*gF1@sD0<pY>uE~oI|aZ');\n",
			[]string{"wordpress-config=q9", "wordpress-config=a;{$b #{c %(d " +
				"9Kq,L8?zR2&xW5=vT7^nB3!mC6+jH4*gF1@sD0<pY>uE~oI|aZ"}},
		{"inc/config.php", "<?php $cfg['Servers'][1]['password'] = 'el4nd';\n$db = array('user' => 'joe', 'pass' => " +
			"'b1son');\npublic $password = getenv('X');\n", []string{"php-config=el4nd", "php-config=b1son"}},
		{"app/.env", "APP_KEY=base64:Zm9v\nDB_PASSWORD=ott3r # " +
			"local\nMAIL_PASSWORD=null\nAWS_SECRET=${X}\nTOKEN_URL=https://x\n",
			[]string{"env-file=base64:Zm9v", "env-file=ott3r"}},
		{"app/.env.example", "DB_PASSWORD=ott3r-77\n", nil},
		{"config/database.yml", "production:\n  host: db\n  username: joe\n  password: l3opard\ndev:\n  password: " +
			"<%= ENV['P'] %>\n", []string{"database-config=l3opard"}},
		{"values.yaml", "env:\n  - name: DB_PASSWORD\n    value: c0yote-1\n  - name: LEVEL\n    value: info-1\ntext: " +
			"|\n  password: notmeatall1\n", []string{"application-yaml=c0yote-1"}},
		{"compose.prod.yaml", "services:\n  db:\n    environment:\n      POSTGRES_USER: app\n      " +
			"POSTGRES_PASSWORD: app\n" +
			"      MYSQL_ROOT_PASSWORD: ${ROOT}\n      OTHER_PASSWORD: changeme\n      existingPassword: secret\n    " +
			"  - REDIS_PASSWORD=secret\n",
			[]string{"weak-password=app", "weak-password=secret"}},
		{"notes.yaml", "app: app\npassword: secret\n", nil},
		{"docker-compose.yml", "services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD=b4dger-5\n      - " +
			"\"ADMIN_PASS=b4dger-6\"\n      POSTGRES_USER: joe\n",
			[]string{"application-yaml=b4dger-5", "application-yaml=b4dger-6"}},
		{"deploy.json", `{"host":"h.corp.net","password":"w0lf-hound"}`, []string{"json-login=w0lf-hound"}},
		{"schema.json", `{"title":"Login","password":"w0lf-hound"}`, nil},
		{"i18n/de.json", `{"host":"Rechner","password":"Kennwort1"}`, nil},
		{"appsettings.json", `{"ConnectionStrings":{"Db":"Server=db.corp.net;User Id=joe;Password=f3rret-9;"},"Jwt":{"SigningKey":"h4re-h4re-h4re"}}`,
			[]string{"connection-string=f3rret-9", "application-json=h4re-h4re-h4re"}},
		{"web.config", `<c><appSettings><add key="MailPassword" value="st0at-9"/><add key="Mode" value="live-9"/></appSettings></c>`, []string{"application-xml=st0at-9"}},
		{"server.xml", `<Resource url="jdbc:x" username="joe" password="m1nk-99"/>`,
			[]string{"application-xml=m1nk-99"}},
		{"src/main/application.properties",
			"spring.datasource.password=v0le-99\nspring.mail.password=${P}\nserver.port=80\n",
			[]string{"application-properties=v0le-99"}},
		{"messages_de.properties", "user.password=Kennwort1\n", nil},
		{"redis.conf", "# requirepass foobared\nrequirepass sh4rk-99\nmaxmemory 1\n",
			[]string{"server-words=sh4rk-99"}},
		{"d.sql", "CREATE TABLE u (password text);\nINSERT INTO `u` (`id`, `password`) VALUES\n(1, 'tr0ut'),\n(2, " +
			"NULL),\n(3, 'it''s');\nCOPY u (id, pwd) FROM stdin;\n1\tsalm0n\n2\t\\N\n\\.\n",
			[]string{"sql-dump=tr0ut", "sql-dump=it''s", "sql-dump=salm0n"}},
		{"login.js", "conn.login('joe@corp.net', 'her0n-99', cb)\nlogin('name', " +
			"'text')\n", []string{"login-call=her0n-99"}},
		{"login.test.js", "conn.login('joe@corp.net', 'her0n-99', cb)\n", nil},
		{"a.txt", "see postgres://joe:sw4n-99@db.corp.net/x and http://user:pass@example.com/ and " +
			"https://h.corp.net/a@b:c\n", []string{"address-with-password=sw4n-99",
			"address-with-password=pass"}},
		{"a.go", `dsn := "joe:e4gle-99@tcp(db.corp.net:3306)/x"; local := "joe:e4gle-99@tcp(localhost:3306)/x"`,
			[]string{"connection-string=e4gle-99"}},
		{"a.java", `String u = "jdbc:sqlserver://h;databaseName=x;user=joe;password=r4ven-99";`,
			[]string{"connection-string=r4ven-99"}},
		{"Unattend.xml", `<u><AdministratorPassword><Value>cr0w</Value></AdministratorPassword><Name><Value>x</Value></Name></u>`, []string{"windows-answers=cr0w"}},
		{"passwords.csv", "name,url,username,password\nx,https://x,joe,\"j4y,jay\"\n",
			[]string{"browser-export=j4y,jay"}},
		{"x.ppk", "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAA\nPrivate-Lines: " +
			"1\nAAAAgQCx\nPrivate-MAC: 00\n", []string{"putty-private-key=AAAAgQCx"}},
		{"x.ppk", "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: aes256-cbc\nPublic-Lines: 1\nAAAA\nPrivate-Lines: " +
			"1\nAAAAgQCx\nPrivate-MAC: 00\n", []string{"encrypted-private-key=AAAAgQCx"}},
	} {
		if diff := cmp.Diff(c.want, found(c.name, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", c.name, diff, c.text)
		}
	}
}

// A table of many users is told in its first rows.
func TestManyRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("INSERT INTO users (id, password) VALUES\n")
	for i := range 50 {
		fmt.Fprintf(&b, "(%d, 'pik3-%d'),\n", i, i)
	}
	b.WriteString("(99, 'last');\n")
	got, _ := Find("x.sql", b.String())
	if len(got) != maxRows || got[maxRows-1].Note != "and 31 more rows" {
		t.Errorf("got %d findings, the last with %q", len(got), got[len(got)-1].Note)
	}
}

func TestPlaceholder(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "changeme": true, "CHANGE_ME_NOW": true, "<password>": true, "${DB_PASS}": true, "a-${DB_PASS}": true,
		"$PASSWORD": true, "{{ vault }}": true,
		"%DB%": true, "xxxxxxxx": true, "********": true, "your_token_here": true, "AKIAIOSFODNN7EXAMPLE": true,
		"null": true, "process.env.X": true, "os.environ['X']": true,
		"hunter22": false, "$6$salt$abc": false, "pa$$word9": false, "Example-1x": true, "ExamplePas123": false,
		"tr0ub4dor&3": false,
	} {
		if got := isPlaceholder(value); got != want {
			t.Errorf("%q: got %v, want %v", value, got, want)
		}
	}
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "DB_PASSWORD": true, "dbPasswd": true, "spring.datasource.password": true, "api-key": true,
		"apiKey": true, "secret_key_base": true,
		"clientSecret": true, "REDIS_PASS": true, "accessToken": true, "adminPassword": true, "rootpw": true,
		"passwordFile": false, "password_policy": false, "token_url": false, "forgotPassword": false, "compass": false,
		"bypass": false, "key": false, "primaryKey": false,
		"publicKey": false, "csrf_token": false, "access_key_id": false, "tokenizer": false, "newPassword": false,
		"min_password": false,
	} {
		if got := isSecretName(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestStore(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a/notes", "\x03\xD9\xA2\x9A\x67\xFB\x4B\xB5....", "keepass-database"},
		{"x.jks", "\xFE\xED\xFE\xED\x00\x00\x00\x02", "java-key-store"},
		{"x.pfx", "\x30\x82\x0a\x10\x02\x01\x03\x30", "pkcs12-store"},
		{"x.pfx", "not one", ""},
		{"x.key", "\x30\x82\x04\xa4\x02\x01\x00\x02", "der-private-key"},
		{"x.der", "\x30\x82\x04\xa4\x30\x82\x03\x8c", ""},
		{"p/key4.db", "SQLite format 3\x00", "browser-key"},
		{"p/Login Data", "SQLite format 3\x00", "browser-database"},
		{"p/x.db", "SQLite format 3\x00", ""},
		{"main.go", "package main", ""},
		{"a.keytab", "\x05\x02\x00\x00", "kerberos-keytab"},
	} {
		got := ""
		if r := MatchStore(c.name, []byte(c.head)); r != nil {
			got = strings.TrimPrefix(r.ID, "secrets/credentials/")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Every rule is fit to be shown, and every name is in lower case, as names are
// compared.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.Name == "" || r.Description == "" || r.HowToPrevent == "" || len(r.CWE) != 1 || len(r.OWASP) == 0 ||
			r.Severity.Rank() == 0 || r.Confidence == "" || seen[r.ID] {
			t.Errorf("rule %s is not whole, or there twice", r.ID)
		}
		seen[r.ID] = true
	}
	for _, p := range table.patterns {
		if p.base != strings.ToLower(p.base) || p.dir != strings.ToLower(p.dir) {
			t.Errorf("%s: %s/%s has capitals", p.format.id, p.dir, p.base)
		}
	}
	if len(seen) < 90 {
		t.Errorf("%d rules, want some 100", len(seen))
	}
}

// What is found lies in the text, in order, whatever the text is.
func FuzzFind(f *testing.F) {
	for _, s := range [][2]string{{".netrc", "machine a login b password c"},
		{"a.json", `{"host":"h","password":["x",{"a":'b'}]}`},
		{"web.config", `<a key="password" value='x'><b><![CDATA[x]]></a>`},
		{"config.yml", "a:\n- b: c\n  password: \"d\n"}, {"x.sql", "insert into a(password)values('b',('c'))"},
		{".bash_history", "mysql -px"}, {"x.ppk", "PuTTY-User-Key-File-2:\nPrivate-Lines:"},
		{"svn.simple/a", "K 8\npassword\nV 3\nabc\nEND"}, {"config.php", "define('password','x"},
		{"a", "x://:@@/://a:b@c"}, {"p.csv", "password\n\"a"}, {"a.txt", "-----BEGIN ENCRYPTED PRIVATE KEY-----"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		before := 0
		matches, _ := Find(name, text)
		for _, m := range matches {
			if m.Start < before || m.End < m.Start || m.End > len(text) || m.Rule == nil {
				t.Fatalf("%s: an impossible place %d to %d behind %d of %d", name, m.Start, m.End, before, len(text))
			}
			before = m.Start
			if m.Confidence != "" && m.Confidence != finding.LowConfidence {
				t.Errorf("confidence %q", m.Confidence)
			}
		}
		MatchStore(name, []byte(text))
		IsCredentialFile(name)
	})
}
