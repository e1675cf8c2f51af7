package credfile

// This file lists the formats of clients, tools and services. A row speaks of
// a format as its program documents it.

var formats = append(append(append([]format{
	// Clients that sign in by themselves.
	{id: "netrc", name: "Password in a netrc file", class: passwordClass, files: ".netrc _netrc netrc *.netrc " +
		".authinfo authinfo", find: findNetrc,
		what: "A netrc file holds the names and passwords with which curl, git, ftp and many other programs sign in " +
			"to hosts."},
	{id: "git-credentials", name: "Stored Git credential", class: tokenClass, files: ".git-credentials " +
		"git-credentials git/credentials", find: findAddresses,
		what: "git-credential-store keeps addresses with the user and password or token in clear text."},
	{id: "pgpass", name: "PostgreSQL password file", class: passwordClass, files: ".pgpass pgpass pgpass.conf " +
		"*.pgpass", read: readColumns, keys: "5",
		what: "A .pgpass file holds passwords of PostgreSQL as host:port:database:user:password."},
	{id: "pg-service", name: "Password in a PostgreSQL service file", class: passwordClass, files: ".pg_service.conf " +
		"pg_service.conf", read: readINI, keys: "password",
		what: "A service file of PostgreSQL holds parameters of connections."},
	{id: "mysql-options", name: "Password in MySQL options", class: passwordClass, files: ".my.cnf my.cnf " +
		".mylogin.cnf client.cnf debian.cnf", read: readINI, keys: "password mysqlpassword ssl-passphrase",
		words: "password",
		what:  "An option file of MySQL or MariaDB holds the password with which its clients sign in."},
	{id: "history-of-commands", name: "Password in a history of commands", class: passwordClass, find: findCommands,
		files: ".bash_history .zsh_history .sh_history .history .ksh_history .mysql_history .psql_history " +
			".sqlite_history .rediscli_history .dbshell .irb_history .python_history .node_repl_history fish_history " +
			".ash_history *.history bash_history zsh_history mysql_history psql_history",
		what: "Shells and database clients keep what was typed, passwords on the command line included."},
	{id: "shell-profile", name: "Secret in a shell profile", class: tokenClass, read: readAssignments, keys: "*",
		files: ".bashrc .bash_profile .bash_aliases .bash_login .profile .zshrc .zshenv .zprofile .zlogin .kshrc " +
			".cshrc .tcshrc .login .envrc .exports .aliases .extra .bash_env .localrc .zsh_local .bashrc.local " +
			".zshrc.local config.fish bashrc zshrc bash_profile profile *.bashrc *.bash_profile *.zshrc",
		what: "What a shell reads when it starts often sets tokens and passwords as variables for all programs."},
	{id: "ssh-password", name: "Password for SSH in a configuration", class: passwordClass, files: "sshpass .sshpass " +
		"ssh_pass *.sshpass", read: readWhole,
		what: "The file holds the password that sshpass gives to ssh."},
	{id: "subversion", name: "Stored Subversion password", class: passwordClass, files: "svn.simple/* " +
		".subversion/servers", read: readSVN, keys: "password passphrase",
		what: "Subversion keeps passwords of servers below auth/svn.simple."},
	{id: "subversion-users", name: "Password of a Subversion server", class: passwordClass,
		files: "conf/passwd svnserve/passwd", read: readINI, words: "[users]",
		what: "svnserve keeps the passwords of its users in clear text."},
	{id: "mercurial", name: "Password in Mercurial settings", class: passwordClass, files: ".hgrc hgrc mercurial.ini " +
		".hg/hgrc", read: readINI, keys: "* authpassword", words: "pass",
		what: "Mercurial's settings hold passwords of repositories in the section auth."},
	{id: "cvs", name: "Stored CVS password", class: passwordClass, files: ".cvspass", find: findCVS,
		what: "CVS keeps passwords of servers, scrambled by a fixed table, in .cvspass."},
	{id: "git-config", name: "Token in Git settings", class: tokenClass, files: ".gitconfig gitconfig git/config " +
		"*.gitconfig", read: readINI, keys: "* token oauthtoken password extraheader",
		what: "Git's settings hold tokens of hosting services and passwords of proxies and of mail."},
	{id: "forge-cli", name: "Token of a command line for code hosting", class: tokenClass, files: "hub .config/hub " +
		"hub.yml hub.yaml gh/hosts.yml hosts.yml glab-cli/config.yml .travis/config.yml .circleci/cli.yml " +
		"tea/config.yml lab.toml .hub .gitlabrc python-gitlab.cfg .python-gitlab.cfg", read: readYAMLOrINI,
		keys: "oauthtoken token accesstoken apitoken privatetoken jobtoken password",
		what: "The command line of a code host keeps the token with which it acts for its user."},

	// Package managers and registries.
	{id: "docker-config", name: "Docker registry credential", class: tokenClass, files: ".dockercfg dockercfg " +
		".dockerconfigjson .docker/config.json docker/config.json dockerconfig.json docker-config.json " +
		"containers/auth.json config/docker.json *.dockercfg *.dockerconfigjson", read: readJSON,
		keys: "auth identitytoken registrytoken password",
		what: "Docker and Podman keep user and password of registries, in Base64, which is no protection."},
	{id: "npm-config", name: "npm registry credential", class: tokenClass, files: ".npmrc npmrc *.npmrc", read: readNPM,
		keys: "auth authtoken password",
		what: "The settings of npm hold tokens or passwords of registries."},
	{id: "yarn-config", name: "Yarn registry credential", class: tokenClass, files: ".yarnrc.yml .yarnrc",
		read: readYAMLOrINI, keys: "npmauthtoken npmauthident authtoken",
		what: "The settings of Yarn hold tokens or passwords of registries."},
	{id: "pypi-config", name: "Python index credential", class: passwordClass, files: ".pypirc pypirc *.pypirc " +
		"pip.conf pip.ini auth.toml", read: readINI, keys: "* password",
		what: "The settings of Python's upload tools hold passwords and tokens of package indexes."},
	{id: "gem-credentials", name: "RubyGems credential", class: tokenClass, files: ".gem/credentials gem/credentials " +
		".gemrc .bundle/config", read: readYAML, keys: "* rubygemsapikey github",
		what: "RubyGems and Bundler keep keys and passwords of gem servers."},
	{id: "cargo-credentials", name: "Cargo registry token", class: tokenClass, files: ".cargo/credentials " +
		".cargo/credentials.toml cargo/credentials.toml cargo/credentials", read: readINI, keys: "token",
		what: "Cargo keeps tokens of registries."},
	{id: "composer-auth", name: "Composer credential", class: tokenClass, files: "composer/auth.json auth.json " +
		".composer/auth.json", read: readJSON, keys: "githubcom gitlabcom bitbucketorg password consumersecret token " +
		"accesstoken consumerkey bearer",
		what: "Composer keeps tokens and passwords of package servers in auth.json."},
	{id: "maven-settings", name: "Password in Maven settings", class: passwordClass, files: "settings.xml " +
		"settings-security.xml *settings.xml", read: readXML, keys: "password passphrase master",
		words: "<password <passphrase <master",
		what:  "Maven's settings hold passwords of repositories and proxies."},
	{id: "gradle-properties", name: "Secret in Gradle properties", class: tokenClass, files: "gradle.properties " +
		"local.properties signing.properties keystore.properties key.properties release.properties",
		read: readAssignments, keys: "*", loose: true,
		what: "Properties of Gradle hold passwords of repositories and of the keys that sign what is built."},
	{id: "sbt-credentials", name: "Password of an sbt or Ivy repository", class: passwordClass, files: ".credentials " +
		".ivy2/.credentials .sbt/credentials .sbt/.credentials", read: readAssignments, keys: "password",
		what: "sbt reads the realm, host, user and password of a repository from a file of properties."},
	{id: "nuget-config", name: "Password in NuGet settings", class: passwordClass, files: "nuget.config *.nuget.config",
		read: readXML, keys: "cleartextpassword password apikey", words: "password apikey",
		what: "NuGet's settings hold passwords and keys of package sources."},
	{id: "conda-token", name: "Token of a Conda channel", class: tokenClass, files: ".condarc condarc",
		find: findAddresses,
		what: "Conda's settings name channels by address, some with a token or password."},

	// File transfer and remote access.
	{id: "file-transfer-site", name: "Password in a list of file transfer sites", class: passwordClass, read: readXML,
		keys: "pass password pw passwd",
		files: "filezilla.xml sitemanager.xml recentservers.xml *filezilla*.xml *sitemanager*.xml " +
			"*recentservers*.xml *.ste sites.dat sm.xml", words: "pass pw=",
		what: "A client of FTP keeps the sites with their passwords in clear text, in Base64 or scrambled by a " +
			"fixed rule."},
	{id: "file-transfer-settings", name: "Password in file transfer settings", class: passwordClass, read: readJSON,
		keys: "* pass password passphrase",
		files: "sftp-config.json sftp-config-alt*.json sftp.json .ftpconfig .sftpconfig.json ftpconfig " +
			".remote-sync.json remote-sync.json deployment-config.json .deployment-config.json ftp-sync.json " +
			"ftpsync.json sftp-settings.json .ftppass .ftprc ftp.json sftp*.json ftp-kr.json ftp-simple.json " +
			".ftp-deploy.json .sftprc",
		what: "Plug-ins of editors that upload a folder keep the password of the server in the project."},
	{id: "ftpsync", name: "Password in file transfer settings", class: passwordClass, read: readAssignments,
		keys: "* pass password pwd",
		files: "ftpsync.settings .ncftp/bookmarks bookmarks.ncftp .lftp/rc .lftprc .lftp/bookmarks ws_ftp.ini " +
			"wcx_ftp.ini winscp.ini *winscp*.ini coreftp.ini coreftp.cfg *.duck mobaxterm.ini cuteftp.ini",
		what: "A client of file transfer keeps passwords in clear text or scrambled by a fixed rule."},
	{id: "remote-desktop", name: "Stored password of a remote session", class: passwordClass, read: readRemote,
		keys:  "* password passwd",
		files: "*.rdp *.rdg *.remmina *.vnc confcons*.xml ultravnc.ini vnc.ini *.rtsz *.xshell *.xsh *.xfp",
		what: "A client of remote sessions keeps the password of a machine, in clear text or in a form that can be " +
			"turned back."},
	{id: "ide-connections", name: "Password in an IDE's connections", class: passwordClass, read: readXML,
		keys: "* password passphrase",
		files: "webservers.xml webservers.local.xml datasources.xml datasources.local.xml datasources.ids " +
			"data-sources.xml .dbeaver-data-sources*.xml dbeaver-data-sources*.xml *data-sources*.xml dbvis.xml " +
			"connections.xml sqlaliases*.xml sshconfigs.xml deployment.xml sqlyog.xml *.ncx server_instances.xml " +
			"wb_connections.xml settings.repository.xml",
		words: "pass",
		what: "An IDE or database client keeps connections with their passwords, in clear text or scrambled by a " +
			"fixed rule."},
	{id: "database-client", name: "Password in a database client's connections", class: passwordClass, read: readJSON,
		keys: "*",
		files: "robomongo.json robo3t.json data-sources.json data-sources*.json dbeaver-data-sources*.json " +
			"servers.json connections.json sqltools.json ormconfig.json .sequelizerc.json sequelize.json " +
			"credentials-config.json redisdesktopmanager.json .rdm/connections.json knexfile.json " +
			"config/database.json database.json db.json mongo.json",
		what: "A database client keeps connections with their passwords."},
	{id: "wireless", name: "Key of a network", class: passwordClass, read: readAssignments, keys: "psk wpapassphrase " +
		"wepkey0 privatekey presharedkey password leappassword privatekeypasswd ssidpassword",
		files: "wpa_supplicant*.conf hostapd.conf *.nmconnection network-manager/system-connections/* wg*.conf " +
			"wireguard/*.conf *.wg",
		what: "Settings of a wireless network or a tunnel hold the key that lets machines in."},
	{id: "network-secrets", name: "Secret of a dial-in or tunnel", class: passwordClass, files: "chap-secrets " +
		"pap-secrets ipsec.secrets *.secrets ppp/options rsyncd.secrets openvpn/auth.txt auth-user-pass.txt " +
		"l2tp-secrets racoon/psk.txt psk.txt", find: findSecretsFile,
		what: "A tunnel or dial-in server keeps names with their secrets in clear text."},

	// Mail, chat and browsers.
	{id: "mail-client", name: "Password of a mailbox", class: passwordClass, read: readWords, keys: "* password pass " +
		"passwd passwordeval imappass smtppass remotepass localpass authpass",
		files: ".esmtprc esmtprc .msmtprc msmtprc msmtp/config .fetchmailrc fetchmailrc .muttrc muttrc .mutt/muttrc " +
			"mutt/muttrc .mbsyncrc mbsyncrc .isyncrc .offlineimaprc offlineimaprc offlineimap.conf .getmailrc " +
			"getmailrc .getmail/getmailrc ssmtp.conf revaliases .mailrc .davmail.properties davmail.properties " +
			".vdirsyncer/config .mpoprc mpoprc .nmailrc .s-nail.rc accountrc .neomuttrc aerc/accounts.conf .swaksrc " +
			"himalaya.toml *.muttrc *.msmtprc .imapfilter/config.lua",
		what: "A program that gets or sends mail keeps the password of the mailbox."},
	{id: "mail-relay", name: "Password of a mail relay", class: passwordClass, files: "sasl_passwd passwd.client " +
		"sasl/passwd sasl_password smtp_auth authinfo.txt saslpass", find: findRelay,
		what: "A mail server keeps user and password of the relay that it sends through."},
	{id: "chat-client", name: "Password of a chat account", class: passwordClass, read: readAssignments,
		keys: "* pass password saslpassword p nickservpassword serverpassword autosendcmd",
		files: ".irssi/config irssi/config irssi.conf irc.conf weechat/irc.conf weechat/sec.conf sec.conf " +
			"servlist.conf servlist_.conf hexchat.conf xchat.conf mirc.ini znc.conf .centericq/config " +
			".centerim/config .ircrc .ircservers ngircd.conf murmur.ini mumble-server.ini ts3server.ini " +
			"ventrilo_srv.ini ventrilo*.ini .epicrc .bitchxrc sopel.cfg supybot.conf",
		what: "A client or server of chat or voice keeps passwords of accounts, channels and administrators."},
	{id: "chat-accounts", name: "Password of a chat account", class: passwordClass, read: readXML,
		keys: "password pass", files: ".purple/accounts.xml purple/accounts.xml accounts.xml .gajim/config " +
			"psi/profiles/*/accounts.xml adium/accounts.plist", words: "pass",
		what: "A client of chat keeps passwords of accounts in clear text."},
	{id: "browser-logins", name: "Logins stored by a browser", class: passwordClass, files: "logins.json " +
		"logins-backup.json signons*.txt", read: readJSON, keys: "encryptedusername encryptedpassword",
		words: "encryptedpassword",
		what: "Firefox and Thunderbird encrypt logins with a key that lies beside them in key4.db and, without a " +
			"primary password, opens them for everybody."},
	{id: "browser-export", name: "Exported logins", class: passwordClass, files: "logins.csv passwords.csv " +
		"*passwords*.csv bitwarden*.csv lastpass*.csv keepass*.csv chrome*passwords*.csv 1password*.csv " +
		"bitwarden*.json", find: findTable,
		what: "A browser or password manager writes all logins in clear text when they are exported."},
}, accountFormats...), cloudFormats...), applicationFormats...)

// accountFormats hold passwords and hashes of a machine's users.
var accountFormats = []format{
	{id: "password-hashes", name: "Hash of a password", class: hashClass, find: findHashes,
		files: "shadow shadow- *.shadow gshadow master.passwd passwd passwd- *passwd htpasswd .htpasswd *.htpasswd " +
			"htpasswd.* .htpasswd* htdigest .htdigest *.htdigest *passwd.txt *.passwd *passwords.txt users.db " +
			"dovecot/users passwordfile pwfile mosquitto.passwd smbpasswd *.pwd *.shadow.bak shadow.bak " +
			"users.htpasswd userlist.txt tomcat-users.txt",
		what: "A file of users with the hashes of their passwords."},
	{id: "directory-entries", name: "Password of a directory entry", class: hashClass, read: readLDIF,
		keys: "userpassword olcrootpw rootpw sambantpassword sambalmpassword unicodepwd", files: "*.ldif slapd.conf",
		words: "pass rootpw unicodepwd",
		what:  "An export of a directory holds passwords or their hashes."},
	{id: "directory-client", name: "Password for a directory", class: passwordClass, read: readWords,
		keys: "* bindpw rootbindpw bindpassword", files: "ldap.conf nslcd.conf sssd.conf pam_ldap.conf ldap.secret " +
			"pam_mysql.conf nss_ldap.conf .ldaprc", words: "pw pass",
		what: "A machine keeps the password with which it asks a directory about its users."},
	{id: "dial-in-users", name: "Password of a RADIUS user", class: passwordClass, find: findCommands,
		files: "freeradius/users raddb/users mods-config/files/authorize clients.conf radiusd.conf proxy.conf",
		what:  "A RADIUS server keeps passwords of users and shared secrets of clients in clear text."},
	{id: "share-credentials", name: "Password of a network share", class: passwordClass, read: readAssignments,
		keys: "password pass", files: "*.smbcredentials .smbcredentials smbcredentials .cifscredentials " +
			"cifs-credentials *.cifs .smbcred* smb.cred* fstab .fstab autofs.cred .credentials.smb nsmb.conf",
		what: "mount.cifs reads the user and password of a share from a file."},
	{id: "name-server-key", name: "Key of a name server", class: keyClass, find: findNamedKey,
		files: "rndc.key rndc.conf named.conf* *.tsig k*.private session.key ddns.key", words: "secret key",
		what: "A name server keeps keys that let others change its zones or control it."},
	{id: "windows-answers", name: "Password in Windows setup answers", class: passwordClass, read: readXML,
		keys: "cpassword password value administratorpassword plaintextpassword", find: findAnswers,
		files: "unattend*.xml autounattend.xml groups.xml scheduledtasks.xml services.xml printers.xml drives.xml " +
			"sysprep.xml", words: "password",
		what: "Answer files and group policies hold passwords of Windows machines; the key of the latter was " +
			"published by the vendor."},
	{id: "windows-answers-ini", name: "Password in Windows setup answers", class: passwordClass, read: readINI,
		keys:  "adminpassword password domainadminpassword joinpassword userpassword",
		files: "sysprep.inf unattend.txt winnt.sif bootstrap.ini customsettings.ini",
		what:  "Answer files of a setup hold passwords of Windows machines."},
	{id: "router-settings", name: "Password of a network device", class: hashClass, find: findDevice,
		files: "*running-config* *startup-config* *.ios.cfg *.rsc router*.cfg router*.conf switch*.cfg switch*.conf " +
			"*-confg snmpd.conf",
		what: "The settings of a router or switch hold passwords, hashes, and communities of SNMP."},
}
