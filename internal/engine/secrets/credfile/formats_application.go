package credfile

// This file lists the configuration of applications, frameworks and servers. The order
// matters: all formats of a file name are tried, and a secret goes by the first that reports
// it. Special formats therefore precede general ones.
//
// A row is added with an id that stays (it becomes the rule id), the file names in lower case,
// the names of secret entries without separators ("db_password" is dbpassword), and a sentence
// for people. "*" among the keys accepts every name that sounds like a secret; loose formats
// then also demand a value that looks like one. See format for all columns.

// applicationFormats are appended to the formats of clients and clouds; see formats.
var applicationFormats = []format{
	{id: "wordpress-config", name: "Secret in WordPress configuration", class: signingClass, read: readCode,
		files: "wp-config.php wp-config*.php *wp-config*.php wp-config.php.* *wp-config.php.bak wp-config.txt",
		keys: "dbpassword authkey secureauthkey loggedinkey noncekey authsalt secureauthsalt loggedinsalt noncesalt " +
			"ftppass ftppassword jwtauthsecretkey smtppassword smtppass wpcachekeysalt *",
		what: "wp-config.php contains the database password or the keys that sign sessions."},
	{id: "php-config", name: "Password in PHP configuration", class: passwordClass, read: readCode, loose: false,
		keys: "* dbpass dbpasswd dbpassword dbpwd password passwd pass blowfishsecret secretkey hashsalt cryptkey " +
			"encryptionkey wgdbpassword wgsecretkey smtppass ftppass mysqlpassword mysqlpass",
		files: "config.php *config.php config.inc.php *config*.inc.php configuration.php settings.php " +
			"localsettings.php local.php database.php db.php *db.php connect.php connection.php *connect*.php " +
			"conn.php dbconfig.php db_config.php dbconnect.php parameters.php env.php app_local.php app.php " +
			"constants.php secrets.php credentials.php mail.php config_inc.php conf.php *conf.php config.default.php " +
			"config.php.bak configuration.php.bak",
		words: "pass secret key pwd token salt",
		what:  "The configuration of a PHP application contains a database password or another secret."},
	{id: "rails-key", name: "Rails master key", class: keyClass, read: readWhole, files: "config/master.key " +
		"master.key config/credentials/*.key .secret_key_base secret_key_base.txt",
		what: "The file contains the key that decrypts the credentials of a Rails application."},
	{id: "framework-secret", name: "Framework signing secret", class: signingClass, read: readYAML,
		files: "secrets.yml secrets.yaml secret.yml config/secrets.yml secrets.*.yml",
		keys:  "secretkeybase secrettoken *",
		what:  "The file contains the secret that signs sessions and cookies of the framework."},
	{id: "framework-code", name: "Secret in framework settings", class: signingClass, read: readCode,
		loose: true, keys: "* secretkey secretkeybase secrettoken signingsalt password",
		files: "settings.py settings_*.py *settings.py settings/*.py local_settings.py config.py *config.py " +
			"configuration.py secrets.py credentials.py secret.py constants.py conf.py secret_token.rb " +
			"session_store.rb devise.rb config.exs prod.exs dev.exs runtime.exs prod.secret.exs *.secret.exs " +
			"config/environments/*.rb config/initializers/*.rb application.rb environment.rb config.rb config.lua " +
			"config.groovy datasource.groovy config.coffee config.js config.ts config.cjs config.mjs *.config.js " +
			"settings.js credentials.js secrets.js secret.js database.js db.js knexfile.js ormconfig.js ormconfig.ts " +
			"keys.js environment.prod.ts config/*.js config.go secrets.go constants.rb credentials.rb config.pl " +
			"config.pm dbconfig.pm",
		words: "pass secret key token",
		what:  "The settings file of the framework contains a hard-coded secret."},
	{id: "env-file", name: "Secret in an environment file", class: tokenClass, read: readAssignments, keys: "* appkey",
		loose: false,
		files: ".env .env.local .env.prod* .env.dev* .env.stag* .env.live* .env.backup .env.bak .env.old .env.save " +
			".env.docker .env.production* .env~ .env.[0-9]* prod.env production.env staging.env dev.env local.env " +
			"app.env docker.env db.env secrets.env secret.env env.production env.local .env.vault.local .env.remote " +
			".env_* *_env .dev.vars",
		what: "The .env file contains passwords or tokens of an installation. It should not be shared."},
	{id: "environment-settings", name: "Secret in an environment file", class: settingClass, read: readAssignments,
		keys: "* appkey", loose: true,
		files: "*.env .env.* *.env.* env config environment credentials secrets .secrets env.sh setenv.sh vars.sh " +
			"secrets.sh credentials.sh openrc *openrc.sh openrc.sh environment.sh config.sh .travis.env env.txt " +
			"variables.env *.envrc .env*",
		what: "The file of environment variables contains a secret."},
	{id: "database-config", name: "Password in database configuration", class: passwordClass, read: readYAML, keys: "*",
		files: "database.yml database.yaml mongoid.yml db.yml databases.yml doctrine.yaml propel.yml dbconfig.yml " +
			"*database.yml phinx.yml phinx.yaml", loose: true,
		what: "The database configuration of the framework contains a password."},
	{id: "application-yaml", name: "Secret in application configuration", class: settingClass, read: readYAML,
		keys: "*", loose: true,
		files: "application*.yml application*.yaml bootstrap*.yml bootstrap*.yaml config*.yml config*.yaml " +
			"*config.yml *config.yaml settings*.yml settings*.yaml parameters*.yml parameters*.yaml app.yml app.yaml " +
			"app*.yaml env*.yaml env*.yml credentials*.yml credentials*.yaml values*.yaml values*.yml " +
			"docker-compose*.yml docker-compose*.yaml compose*.yml compose*.yaml *secret*.yml *secret*.yaml " +
			"storage.yml cable.yml sidekiq.yml newrelic.yml grafana*.yaml prometheus*.yml prometheus*.yaml " +
			"alertmanager*.yml alertmanager*.yaml elasticsearch.yml kibana.yml logstash.yml filebeat.yml " +
			"metricbeat.yml gitlab-ci.yml .gitlab-ci.yml .travis.yml circle.yml appveyor.yml bitbucket-pipelines.yml " +
			"azure-pipelines.yml serverless.yml serverless.yaml hiera*.yaml common.yaml vars.yml vars/*.yml " +
			"vars.yaml defaults/main.yml vars/main.yml all.yml mkdocs.yml _config.yml conf.yml conf.yaml " +
			"homeserver.yaml synapse.yaml authelia*.yml dex.yaml registry.yml traefik.yml",
		words: "pass secret key token pwd credential",
		what:  "The configuration of an application or server contains a secret."},
	{id: "weak-password", name: "Weak password in a deployment file", class: weakClass, find: findWeakPasswords,
		files: "docker-compose*.yml docker-compose*.yaml compose*.yml compose*.yaml *-compose.yml *-compose.yaml " +
			"docker-stack*.yml stack*.yml values*.yaml values*.yml deployment*.yaml deployment*.yml " +
			"statefulset*.yaml configmap*.yaml",
		words: "pass pwd",
		what:  "A deployment file sets a password that attackers try first."},
	{id: "yaml-login", name: "Password with a host name", class: settingClass, read: readYAML, keys: "* password",
		loose: true, near: true, files: "*.yml *.yaml", words: "pass pwd secret token",
		what: "The file contains a host name and the password for it."},
	{id: "json-login", name: "Password with a host name", class: settingClass, read: readJSON, keys: "* password pass",
		loose: true, near: true, files: "*.json *.jsonc *.json5", words: "pass pwd secret token",
		what: "The file contains a host name and the password for it."},
	{id: "application-json", name: "Secret in application configuration", class: settingClass, read: readJSON,
		keys: "*", loose: true,
		files: "appsettings*.json config.json *config.json config.*.json config/*.json settings.json *settings.json " +
			"secrets*.json *secrets.json credentials*.json *credentials.json env.json *.env.json local.json " +
			"production.json development.json default.json secret*.json connections.json parameters*.json " +
			"*.parameters.json .mcp.json mcp.json *.postman_environment.json *.postman_collection.json " +
			"*.postman_globals.json insomnia*.json keys.json tokens.json auth.json .auth.json database.json " +
			"launchsettings.json local.settings.json host.json wp-cli.json nodemon.json ecosystem.config.json " +
			"task-definition*.json taskdef*.json containerdefinitions*.json dockerrun.aws.json",
		words: "pass secret key token pwd",
		what:  "The configuration of an application contains a secret."},
	{id: "application-properties", name: "Secret in application configuration", class: settingClass,
		read: readAssignments, keys: "* rconpassword requirepass masterauth", loose: true,
		files: "*.properties *.ini *.cfg *.conf *.cnf *.toml *.config.local *.settings *.rc *.desktop.ini .flaskenv " +
			"*.hocon *.conf.bak *.ini.bak *.cfg.bak *.properties.bak *.plist.ini *.inf *.service *.default",
		words: "pass secret key token pwd auth psk pw",
		what:  "The configuration of an application or server contains a secret."},
	{id: "server-words", name: "Password in server configuration", class: passwordClass, read: readWords,
		loose: true, keys: "requirepass masterauth password passwd adminpassword rconpassword secret authpass " +
			"sharedsecret userpassword",
		files: "redis.conf redis*.conf sentinel.conf server.cfg haproxy.cfg keepalived.conf asterisk/*.conf sip.conf " +
			"iax.conf manager.conf voicemail.conf users.conf rtorrent.rc squid.conf turnserver.conf unrealircd.conf " +
			"inspircd.conf ngircd.conf znc.conf nagios/*.cfg resource.cfg zabbix*.conf bacula*.conf bareos*.conf " +
			"pgbouncer.ini pgpool.conf recovery.conf primary_conninfo dovecot-sql.conf* mysql-*.cf pgsql-*.cf " +
			"ldap-*.cf proxysql.cnf rabbitmq.conf janus*.jcfg prosody.cfg.lua openfire.xml freeradius/*.conf " +
			"wvdial.conf ddclient.conf inadyn.conf noip2.conf autologin.conf pppoe.conf minidlna.conf " +
			"transmission-daemon.conf icecast.conf *.cf nut/upsd.users upsmon.conf upsd.users corosync.conf " +
			"drbd.conf tac_plus.conf tac_plus.cfg mongod.conf",
		what: "The configuration of a server contains a password."},
	{id: "application-xml", name: "Password in application configuration", class: settingClass, read: readXML,
		keys: "*", loose: true,
		files: "web*.config app*.config *.exe.config *.dll.config connectionstrings*.config appsettings*.config " +
			"machine.config server.xml context.xml tomcat-users.xml persistence.xml hibernate*.xml *-ds.xml " +
			"datasource*.xml *datasource*.xml applicationcontext*.xml *-context.xml spring*.xml beans.xml " +
			"standalone*.xml domain.xml jboss*.xml weblogic*.xml config.xml config*.xml *config.xml credentials.xml " +
			"hudson*.xml *jenkins*.xml local.xml parameters.xml log4j*.xml logback*.xml struts.xml ibatis*.xml " +
			"mybatis*.xml sqlmapconfig.xml c3p0-config.xml activemq.xml broker.xml icecast.xml openfire.xml " +
			"phpunit*.xml build.xml strings.xml *.jmx *.csproj.user *.user users.xml jetty*.xml security*.xml " +
			"*-security.xml ejb-jar.xml ra.xml *.plist *.nuspec.xml environment.xml settings*.xml *.settings.xml",
		words: "pass secret key token pwd",
		what:  "The configuration of an application or server contains a password."},
	{id: "weblogic-boot", name: "Password of an application server", class: passwordClass, read: readAssignments,
		keys: "password", files: "boot.properties jboss-users.properties mgmt-users.properties " +
			"application-users.properties users.properties jmxremote.password *.jmxremote.password " +
			"jetty-realm.properties realm.properties",
		what: "The file contains the password of a user who may administer the application server."},
	{id: "desktop-application", name: "Password in application settings", class: passwordClass, read: readXML,
		keys: "* password passwd pass", loose: true, files: "*.rtsz *.soapui *soapui*.xml *.ksf hibernate.cfg.xml " +
			"jmeter*.xml *.dtsx *.rds *.dtsconfig *.udl.xml", words: "pass",
		what: "The settings of an application contain a password."},
	{id: "sql-dump", name: "Passwords in a database dump", class: recordClass, find: findDump,
		files: "*.sql *.sql.txt *.dump *.mysql *.pgsql *.ddl", words: "insert copy identified password",
		what: "The database dump contains a table of users with passwords or password hashes."},
	{id: "login-call", name: "Hard-coded login credentials", class: codeClass, find: findLogins,
		files: "*.js *.mjs *.cjs *.ts *.py *.rb *.php *.java *.cs *.go *.groovy *.kt *.pl",
		words: "login( authenticate( auth(",
		what:  "The code passes a hard-coded user name and password to a login function."},
	{id: "jenkins-secrets", name: "Build server key", class: keyClass, read: readWhole,
		files: "secrets/master.key secret.key hudson.util.secret initialadminpassword secrets/initialadminpassword " +
			"jenkins.security.apitokenproperty.seed identity.key.enc",
		what: "The file contains the key with which a build server, such as Jenkins, decrypts its stored " +
			"credentials."},
	{id: "keys-of-services", name: "Service key", class: keyClass, read: readWhole,
		files: "hs_ed25519_secret_key hs_secret_key tinc/rsa_key.priv .erlang.cookie erlang.cookie .tor_auth_cookie " +
			".pine-passfile .s3fs-passwd passwd-s3fs .passwd-s3fs secret_key_base .secret .app_secret jwt.secret " +
			"jwt_secret .jwt-secret.txt jwt-secret.txt secret.txt secret_key.txt password.txt db_password.txt " +
			"db-password.txt mysql_root_password.txt api_key.txt apikey.txt api_token.txt token.txt .token .apikey " +
			".password passphrase.txt .passphrase pgp_passphrase.txt",
		what: "The file consists of a key or password."},
}
