# DokuWiki (Debian package dokuwiki). It keeps pages, users and settings in files.
# Its mails are recorded, and compared like its files.
NEEDS="/usr/share/dokuwiki/doku.php php"
LOGIN='/doku.php?id=start&do=login' USER=ann PASSWORD=ann-Secret-7
CHANGING='data/(cache|tmp|locks|index|log)|\.indexed'
VOLATILE='(data/cache|data/tmp|data/locks|data/index|/_dummy|data/log|\.changes|data/meta/_|\.indexed|\.meta:|usermanager|sessions)'
setup() {
  cp -rL /usr/share/dokuwiki "$DIR/app" 2>/dev/null; cd "$DIR/app"; rm -rf conf data lib/plugins lib/tpl
  cp -rL /etc/dokuwiki conf; cp -rL /var/lib/dokuwiki/lib/plugins lib/plugins; cp -rL /var/lib/dokuwiki/lib/tpl lib/tpl; rm -f inc/preload.php
  chmod -R u+rwX conf lib; rm -f conf/*.dist conf/dokuwiki.php.orig
  for d in attic cache index locks media media_attic media_meta meta pages tmp log; do mkdir -p "data/$d"; done; mkdir -p "$DIR/sessions"
  sed -i "s|/var/lib/dokuwiki/data|./data|" conf/dokuwiki.php conf/local.php 2>/dev/null || true
  cat > conf/local.php <<P
<?php
\$conf['title'] = 'Wiki of Ann'; \$conf['lang'] = 'en'; \$conf['license'] = '0'; \$conf['useacl'] = 1; \$conf['superuser'] = '@admin'; \$conf['updatecheck'] = 0; \$conf['savedir'] = './data'; \$conf['allowdebug'] = 0;
P
  printf '%s:%s:Ann:ann@merlon.example:admin,user\nbob:x:Bob:bob@merlon.example:user\n' "$USER" "$(php -r 'echo password_hash($argv[1], PASSWORD_BCRYPT);' "$PASSWORD")" > conf/users.auth.php
  printf '*\t@ALL\t1\n*\t@user\t8\n' > conf/acl.auth.php
  # The manager of extensions asks its repository whenever somebody looks at its page, and
  # cannot be switched off.
  rm -rf lib/plugins/extension; printf "<?php\n\$plugins['popularity'] = 0;\n" > conf/plugins.local.php
  printf '#!/bin/sh\ncat >> "%s/mails"\n' "$DIR" > "$DIR/mail"; chmod +x "$DIR/mail"; touch "$DIR/mails"
  mkdir -p data/pages/team; printf '====== Start ======\nText of Ann. [[team:plan]]\n' > data/pages/start.txt; printf '====== Plan ======\nKept plan.\n' > data/pages/team/plan.txt
}
serve() { cd "$DIR/app" && PHP_CLI_SERVER_WORKERS=3 exec php -d session.save_path="$DIR/sessions" -d sendmail_path="$DIR/mail" -d display_errors=0 -S "127.0.0.1:$PORT"; }
ready() { curl -s -o /dev/null "$BASE/doku.php?id=start"; }
dump() { cd "$DIR/app" && find conf data lib/plugins lib/tpl -type f ! -path "data/cache/*" ! -path "data/tmp/*" ! -path "data/locks/*" ! -path "data/index/*" ! -path "data/log/*" | sort | while read -r f; do case "$f" in data/*|conf/*) sed "s|^|$f: |" "$f" 2>/dev/null; echo;; *) echo "$f $(stat -c %s "$f")";; esac; done; sed -n 's/^\(To\|Cc\|Bcc\): /mail to &/p' "$DIR/mails"; }
smoke() { curl -s "$BASE/doku.php?id=team:plan" | grep -q "Kept plan" && curl -s "$BASE/doku.php?id=start" | grep -q "Wiki of Ann"; }
