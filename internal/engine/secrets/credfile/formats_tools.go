package credfile

// This file lists the formats of clients, tools and services. A row speaks of
// a format as its program documents it.

var formats = append(append(append([]format{
	// Clients that sign in by themselves.
	{id: "netrc", name: "Password in a netrc file", class: passwordClass, files: ".netrc _netrc netrc *.netrc " +
		".authinfo authinfo", find: findNetrc,
		what: "The netrc file contains the user names and passwords that curl, Git, FTP clients and " +
			"other programs use."},
	{id: "git-credentials", name: "Stored Git credential", class: tokenClass, files: ".git-credentials " +
		"git-credentials git/credentials", find: findAddresses,
		what: "The file of git-credential-store contains URLs with a user name and a password or token " +
			"in plaintext."},
	{id: "pgpass", name: "PostgreSQL password file", class: passwordClass, files: ".pgpass pgpass pgpass.conf " +
		"*.pgpass", read: readColumns, keys: "5",
		what: "The .pgpass file contains PostgreSQL passwords in the format " +
			"host:port:database:user:password."},
	{id: "pg-service", name: "Password in a PostgreSQL service file", class: passwordClass, files: ".pg_service.conf " +
		"pg_service.conf", read: readINI, keys: "password",
		what: "The PostgreSQL service file contains connection parameters with a password."},
	{id: "mysql-options", name: "Password in a MySQL option file", class: passwordClass, files: ".my.cnf my.cnf " +
		".mylogin.cnf client.cnf debian.cnf", read: readINI, keys: "password mysqlpassword ssl-passphrase",
		words: "password",
		what:  "The MySQL or MariaDB option file contains the password of the client."},
	{id: "history-of-commands", name: "Password in a command history", class: passwordClass, find: findCommands,
		files: ".bash_history .zsh_history .sh_history .history .ksh_history .mysql_history .psql_history " +
			".sqlite_history .rediscli_history .dbshell .irb_history .python_history .node_repl_history fish_history " +
			".ash_history *.history bash_history zsh_history mysql_history psql_history",
		what: "The history of a shell or database client contains a password that was typed on the " +
			"command line."},
	{id: "shell-profile", name: "Secret in a shell profile", class: tokenClass, read: readAssignments, keys: "*",
		files: ".bashrc .bash_profile .bash_aliases .bash_login .profile .zshrc .zshenv .zprofile .zlogin .kshrc " +
			".cshrc .tcshrc .login .envrc .exports .aliases .extra .bash_env .localrc .zsh_local .bashrc.local " +
			".zshrc.local config.fish bashrc zshrc bash_profile profile *.bashrc *.bash_profile *.zshrc",
		what: "The shell profile sets a token or password as an environment variable for all programs."},
	{id: "ssh-password", name: "SSH password in a configuration file", class: passwordClass,
		files: "sshpass .sshpass " +
			"ssh_pass *.sshpass", read: readWhole,
		what: "The file contains the password that sshpass passes to SSH."},
	{id: "subversion", name: "Stored Subversion password", class: passwordClass, files: "svn.simple/* " +
		".subversion/servers", read: readSVN, keys: "password passphrase",
		what: "The Subversion credential cache (auth/svn.simple) contains the password of a server."},
	{id: "subversion-users", name: "Password of a Subversion server", class: passwordClass,
		files: "conf/passwd svnserve/passwd", read: readINI, words: "[users]",
		what: "The password file of svnserve contains the passwords of its users in plaintext."},
	{id: "mercurial", name: "Password in Mercurial configuration", class: passwordClass,
		files: ".hgrc hgrc mercurial.ini " +
			".hg/hgrc", read: readINI, keys: "* authpassword", words: "pass",
		what: "The section auth of the Mercurial configuration contains the password of a repository."},
	{id: "cvs", name: "Stored CVS password", class: passwordClass, files: ".cvspass", find: findCVS,
		what: "The .cvspass file contains CVS passwords that are only obfuscated with a fixed table."},
	{id: "git-config", name: "Token in Git configuration", class: tokenClass, files: ".gitconfig gitconfig " +
		"git/config " +
		"*.gitconfig", read: readINI, keys: "* token oauthtoken password extraheader",
		what: "The Git configuration contains the token of a hosting service, or the password of a proxy " +
			"or mail server."},
	{id: "forge-cli", name: "Token of a code hosting CLI", class: tokenClass, files: "hub .config/hub " +
		"hub.yml hub.yaml gh/hosts.yml hosts.yml glab-cli/config.yml .travis/config.yml .circleci/cli.yml " +
		"tea/config.yml lab.toml .hub .gitlabrc python-gitlab.cfg .python-gitlab.cfg", read: readYAMLOrINI,
		keys: "oauthtoken token accesstoken apitoken privatetoken jobtoken password",
		what: "The configuration of a code hosting CLI contains the access token of a user."},

	// Package managers and registries.
	{id: "docker-config", name: "Docker registry credential", class: tokenClass, files: ".dockercfg dockercfg " +
		".dockerconfigjson .docker/config.json docker/config.json dockerconfig.json docker-config.json " +
		"containers/auth.json config/docker.json *.dockercfg *.dockerconfigjson", read: readJSON,
		keys: "auth identitytoken registrytoken password",
		what: "The Docker or Podman configuration contains the user name and password of a registry in " +
			"Base64, which is not encryption."},
	{id: "npm-config", name: "npm registry credential", class: tokenClass, files: ".npmrc npmrc *.npmrc", read: readNPM,
		keys: "auth authtoken password",
		what: "The npm configuration contains a token or password of a registry."},
	{id: "yarn-config", name: "Yarn registry credential", class: tokenClass, files: ".yarnrc.yml .yarnrc",
		read: readYAMLOrINI, keys: "npmauthtoken npmauthident authtoken",
		what: "The Yarn configuration contains a token or password of a registry."},
	{id: "pypi-config", name: "Python package index credential", class: passwordClass,
		files: ".pypirc pypirc *.pypirc " +
			"pip.conf pip.ini auth.toml", read: readINI, keys: "* password",
		what: "The configuration of pip or of an upload tool contains a password or token of a package " +
			"index."},
	{id: "gem-credentials", name: "RubyGems credential", class: tokenClass, files: ".gem/credentials gem/credentials " +
		".gemrc .bundle/config", read: readYAML, keys: "* rubygemsapikey github",
		what: "The RubyGems or Bundler configuration contains a key or password of a gem server."},
	{id: "cargo-credentials", name: "Cargo registry token", class: tokenClass, files: ".cargo/credentials " +
		".cargo/credentials.toml cargo/credentials.toml cargo/credentials", read: readINI, keys: "token",
		what: "The Cargo credentials file contains a registry token."},
	{id: "composer-auth", name: "Composer credential", class: tokenClass, files: "composer/auth.json auth.json " +
		".composer/auth.json", read: readJSON, keys: "githubcom gitlabcom bitbucketorg password consumersecret token " +
		"accesstoken consumerkey bearer",
		what: "The Composer file auth.json contains a token or password of a package server."},
	{id: "maven-settings", name: "Password in Maven settings", class: passwordClass, files: "settings.xml " +
		"settings-security.xml *settings.xml", read: readXML, keys: "password passphrase master",
		words: "<password <passphrase <master",
		what:  "The Maven settings contain a password of a repository or proxy."},
	{id: "gradle-properties", name: "Secret in Gradle properties", class: tokenClass, files: "gradle.properties " +
		"local.properties signing.properties keystore.properties key.properties release.properties",
		read: readAssignments, keys: "*", loose: true,
		what: "The Gradle properties contain a password of a repository or of a code signing key."},
	{id: "sbt-credentials", name: "Password of an sbt or Ivy repository", class: passwordClass, files: ".credentials " +
		".ivy2/.credentials .sbt/credentials .sbt/.credentials", read: readAssignments, keys: "password",
		what: "The credentials file of sbt or Ivy contains the host, user and password of a repository."},
	{id: "nuget-config", name: "Password in NuGet configuration", class: passwordClass,
		files: "nuget.config *.nuget.config",
		read:  readXML, keys: "cleartextpassword password apikey", words: "password apikey",
		what: "The NuGet configuration contains a password or API key of a package source."},
	{id: "conda-token", name: "Conda channel token", class: tokenClass, files: ".condarc condarc",
		find: findAddresses,
		what: "The Conda configuration contains a channel URL with a token or password."},

	// File transfer and remote access.
	{id: "file-transfer-site", name: "Password in an FTP site list", class: passwordClass, read: readXML,
		keys: "pass password pw passwd",
		files: "filezilla.xml sitemanager.xml recentservers.xml *filezilla*.xml *sitemanager*.xml " +
			"*recentservers*.xml *.ste sites.dat sm.xml", words: "pass pw=",
		what: "The site list of an FTP client contains passwords in plaintext, in Base64 or obfuscated " +
			"with a fixed algorithm."},
	{id: "file-transfer-settings", name: "Password in file transfer settings", class: passwordClass, read: readJSON,
		keys: "* pass password passphrase",
		files: "sftp-config.json sftp-config-alt*.json sftp.json .ftpconfig .sftpconfig.json ftpconfig " +
			".remote-sync.json remote-sync.json deployment-config.json .deployment-config.json ftp-sync.json " +
			"ftpsync.json sftp-settings.json .ftppass .ftprc ftp.json sftp*.json ftp-kr.json ftp-simple.json " +
			".ftp-deploy.json .sftprc",
		what: "The configuration of an editor's upload plug-in contains the password of a server."},
	{id: "ftpsync", name: "Password in file transfer settings", class: passwordClass, read: readAssignments,
		keys: "* pass password pwd",
		files: "ftpsync.settings .ncftp/bookmarks bookmarks.ncftp .lftp/rc .lftprc .lftp/bookmarks ws_ftp.ini " +
			"wcx_ftp.ini winscp.ini *winscp*.ini coreftp.ini coreftp.cfg *.duck mobaxterm.ini cuteftp.ini",
		what: "The configuration of a file transfer client contains passwords in plaintext or obfuscated " +
			"with a fixed algorithm."},
	{id: "remote-desktop", name: "Stored remote desktop password", class: passwordClass, read: readRemote,
		keys:  "* password passwd",
		files: "*.rdp *.rdg *.remmina *.vnc confcons*.xml ultravnc.ini vnc.ini *.rtsz *.xshell *.xsh *.xfp",
		what: "The configuration of a remote desktop client contains the password of a host in plaintext " +
			"or in a reversible form."},
	{id: "ide-connections", name: "Password in IDE connection settings", class: passwordClass, read: readXML,
		keys: "* password passphrase",
		files: "webservers.xml webservers.local.xml datasources.xml datasources.local.xml datasources.ids " +
			"data-sources.xml .dbeaver-data-sources*.xml dbeaver-data-sources*.xml *data-sources*.xml dbvis.xml " +
			"connections.xml sqlaliases*.xml sshconfigs.xml deployment.xml sqlyog.xml *.ncx server_instances.xml " +
			"wb_connections.xml settings.repository.xml",
		words: "pass",
		what: "The connection settings of an IDE or database client contain passwords in plaintext or " +
			"obfuscated with a fixed algorithm."},
	{id: "database-client", name: "Password in database client settings", class: passwordClass, read: readJSON,
		keys: "*",
		files: "robomongo.json robo3t.json data-sources.json data-sources*.json dbeaver-data-sources*.json " +
			"servers.json connections.json sqltools.json ormconfig.json .sequelizerc.json sequelize.json " +
			"credentials-config.json redisdesktopmanager.json .rdm/connections.json knexfile.json " +
			"config/database.json database.json db.json mongo.json",
		what: "The connection settings of a database client contain a password."},
	{id: "wireless", name: "Wireless or VPN key", class: passwordClass, read: readAssignments,
		keys: "psk wpapassphrase " +
			"wepkey0 privatekey presharedkey password leappassword privatekeypasswd ssidpassword",
		files: "wpa_supplicant*.conf hostapd.conf *.nmconnection network-manager/system-connections/* wg*.conf " +
			"wireguard/*.conf *.wg",
		what: "The network configuration contains the key of a wireless network or VPN."},
	{id: "network-secrets", name: "Dial-in or VPN secret", class: passwordClass, files: "chap-secrets " +
		"pap-secrets ipsec.secrets *.secrets ppp/options rsyncd.secrets openvpn/auth.txt auth-user-pass.txt " +
		"l2tp-secrets racoon/psk.txt psk.txt", find: findSecretsFile,
		what: "The secrets file of a VPN or dial-in server contains user names and passwords in " +
			"plaintext."},

	// Mail, chat and browsers.
	{id: "mail-client", name: "Mailbox password", class: passwordClass, read: readWords, keys: "* password pass " +
		"passwd passwordeval imappass smtppass remotepass localpass authpass",
		files: ".esmtprc esmtprc .msmtprc msmtprc msmtp/config .fetchmailrc fetchmailrc .muttrc muttrc .mutt/muttrc " +
			"mutt/muttrc .mbsyncrc mbsyncrc .isyncrc .offlineimaprc offlineimaprc offlineimap.conf .getmailrc " +
			"getmailrc .getmail/getmailrc ssmtp.conf revaliases .mailrc .davmail.properties davmail.properties " +
			".vdirsyncer/config .mpoprc mpoprc .nmailrc .s-nail.rc accountrc .neomuttrc aerc/accounts.conf .swaksrc " +
			"himalaya.toml *.muttrc *.msmtprc .imapfilter/config.lua",
		what: "The configuration of a mail client contains the password of a mailbox."},
	{id: "mail-relay", name: "Mail relay password", class: passwordClass, files: "sasl_passwd passwd.client " +
		"sasl/passwd sasl_password smtp_auth authinfo.txt saslpass", find: findRelay,
		what: "The configuration of a mail server contains the user name and password of its relay."},
	{id: "chat-client", name: "Chat account password", class: passwordClass, read: readAssignments,
		keys: "* pass password saslpassword p nickservpassword serverpassword autosendcmd",
		files: ".irssi/config irssi/config irssi.conf irc.conf weechat/irc.conf weechat/sec.conf sec.conf " +
			"servlist.conf servlist_.conf hexchat.conf xchat.conf mirc.ini znc.conf .centericq/config " +
			".centerim/config .ircrc .ircservers ngircd.conf murmur.ini mumble-server.ini ts3server.ini " +
			"ventrilo_srv.ini ventrilo*.ini .epicrc .bitchxrc sopel.cfg supybot.conf",
		what: "The configuration of a chat or voice client or server contains the password of an " +
			"account, channel or administrator."},
	{id: "chat-accounts", name: "Chat account password", class: passwordClass, read: readXML,
		keys: "password pass", files: ".purple/accounts.xml purple/accounts.xml accounts.xml .gajim/config " +
			"psi/profiles/*/accounts.xml adium/accounts.plist", words: "pass",
		what: "The account file of a chat client contains passwords in plaintext."},
	{id: "browser-logins", name: "Stored browser logins", class: passwordClass, files: "logins.json " +
		"logins-backup.json signons*.txt", read: readJSON, keys: "encryptedusername encryptedpassword",
		words: "encryptedpassword",
		what: "The file contains logins of Firefox or Thunderbird. Their key is in key4.db in the same " +
			"folder and is not protected without a primary password."},
	{id: "browser-export", name: "Exported logins", class: passwordClass, files: "logins.csv passwords.csv " +
		"*passwords*.csv bitwarden*.csv lastpass*.csv keepass*.csv chrome*passwords*.csv 1password*.csv " +
		"bitwarden*.json", find: findTable,
		what: "The export of a browser or password manager contains all logins in plaintext."},
}, accountFormats...), cloudFormats...), applicationFormats...)

// accountFormats hold passwords and hashes of a machine's users.
var accountFormats = []format{
	{id: "password-hashes", name: "Password hash", class: hashClass, find: findHashes,
		files: "shadow shadow- *.shadow gshadow master.passwd passwd passwd- *passwd htpasswd .htpasswd *.htpasswd " +
			"htpasswd.* .htpasswd* htdigest .htdigest *.htdigest *passwd.txt *.passwd *passwords.txt users.db " +
			"dovecot/users passwordfile pwfile mosquitto.passwd smbpasswd *.pwd *.shadow.bak shadow.bak " +
			"users.htpasswd userlist.txt tomcat-users.txt",
		what: "The user file contains password hashes."},
	{id: "directory-entries", name: "Password of a directory entry", class: hashClass, read: readLDIF,
		keys: "userpassword olcrootpw rootpw sambantpassword sambalmpassword unicodepwd", files: "*.ldif slapd.conf",
		words: "pass rootpw unicodepwd",
		what:  "The LDAP export or configuration contains passwords or password hashes."},
	{id: "directory-client", name: "LDAP bind password", class: passwordClass, read: readWords,
		keys: "* bindpw rootbindpw bindpassword", files: "ldap.conf nslcd.conf sssd.conf pam_ldap.conf ldap.secret " +
			"pam_mysql.conf nss_ldap.conf .ldaprc", words: "pw pass",
		what: "The configuration of an LDAP client contains the bind password of the host."},
	{id: "dial-in-users", name: "RADIUS user password", class: passwordClass, find: findCommands,
		files: "freeradius/users raddb/users mods-config/files/authorize clients.conf radiusd.conf proxy.conf",
		what: "The RADIUS configuration contains passwords of users or shared secrets of clients in " +
			"plaintext."},
	{id: "share-credentials", name: "Network share password", class: passwordClass, read: readAssignments,
		keys: "password pass", files: "*.smbcredentials .smbcredentials smbcredentials .cifscredentials " +
			"cifs-credentials *.cifs .smbcred* smb.cred* fstab .fstab autofs.cred .credentials.smb nsmb.conf",
		what: "The file contains the user name and password for mounting a network share (mount.cifs)."},
	{id: "name-server-key", name: "DNS server key", class: keyClass, find: findNamedKey,
		files: "rndc.key rndc.conf named.conf* *.tsig k*.private session.key ddns.key", words: "secret key",
		what: "The file contains a key (TSIG or rndc) that permits changing zones or controlling the DNS " +
			"server."},
	{id: "windows-answers", name: "Password in a Windows answer file or group policy", class: passwordClass,
		read: readXML,
		keys: "cpassword password value administratorpassword plaintextpassword", find: findAnswers,
		files: "unattend*.xml autounattend.xml groups.xml scheduledtasks.xml services.xml printers.xml drives.xml " +
			"sysprep.xml", words: "password",
		what: "The Windows answer file or group policy contains a password. The key that encrypts " +
			"cpassword in group policies is public."},
	{id: "windows-answers-ini", name: "Password in a Windows answer file", class: passwordClass, read: readINI,
		keys:  "adminpassword password domainadminpassword joinpassword userpassword",
		files: "sysprep.inf unattend.txt winnt.sif bootstrap.ini customsettings.ini",
		what:  "The Windows answer file contains a password."},
	{id: "router-settings", name: "Network device password", class: hashClass, find: findDevice,
		files: "*running-config* *startup-config* *.ios.cfg *.rsc router*.cfg router*.conf switch*.cfg switch*.conf " +
			"*-confg snmpd.conf",
		what: "The configuration of a router or switch contains passwords, password hashes or SNMP " +
			"community strings."},
}
