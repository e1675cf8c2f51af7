# Redmine (Debian packages redmine, redmine-sqlite): projects, issues, wikis, users and roles, in
# Ruby with SQLite. Its mails are recorded, and compared like its database.
NEEDS="/usr/share/redmine/config.ru /usr/bin/ruby3.1 sqlite3"
LOGIN=/login USER=admin PASSWORD=ann-Secret-7
# Preferences of a user are made when a page first reads them, and who writes news watches them.
CHANGING='^INSERT INTO sqlite_sequence'
VOLATILE='^INSERT INTO "?(sqlite_|tokens|user_preferences)|^INSERT INTO watchers VALUES\([0-9]+,.News.'
setup() {
  cp -rL /usr/share/redmine "$DIR/app" 2>/dev/null; cd "$DIR/app"; rm -rf Gemfile.lock instances config/database.yml; mkdir -p instances/default/config files tmp log tmp/pids
  printf 'production:\n  adapter: sqlite3\n  timeout: 20000\n  database: %s/redmine.db\n' "$DIR" | tee config/database.yml > instances/default/config/database.yml
  printf '#!/bin/sh\ncat >> "%s/mails"\n' "$DIR" > "$DIR/mail"; chmod +x "$DIR/mail"; touch "$DIR/mails"
  echo "gem 'webrick'" >> Gemfile
  printf 'default:\n  email_delivery:\n    delivery_method: :sendmail\n    sendmail_settings:\n      location: "%s/mail"\n' "$DIR" | tee config/configuration.yml > instances/default/config/configuration.yml
  export RAILS_ENV=production REDMINE_LANG=en
  { ruby3.1 bin/rake generate_secret_token db:migrate && ruby3.1 bin/rake redmine:load_default_data; } > "$DIR/install.log" 2>&1
  cat > "$DIR/seed.rb" <<P
u = User.find_by_login("admin"); u.password = ENV["PASSWORD"]; u.must_change_passwd = false; u.save!
Setting.host_name = "127.0.0.1"
b = User.new(firstname: "Bob", lastname: "Bee", mail: "bob@merlon.example", language: "en"); b.login = "bob"; b.password = "bob-Secret-7"; b.save!
p = Project.new(name: "Kept project", identifier: "kept"); p.trackers = Tracker.all; p.enabled_module_names = %w(issue_tracking wiki news boards time_tracking); p.save!
Member.create!(project: p, principal: b, roles: [Role.givable.first])
2.times { |i| Issue.create!(project: p, tracker: p.trackers.first, author: u, subject: "Kept issue #{i}", description: "Text of Ann", priority: IssuePriority.first, status: IssueStatus.first) }
w = WikiPage.new(wiki: p.reload.wiki || Wiki.create!(project: p, start_page: "Wiki"), title: "Wiki"); w.save_with_content(WikiContent.new(page: w, text: "Kept page.", author: u)) or raise "no page"
P
  ruby3.1 bin/rails runner "$DIR/seed.rb" >> "$DIR/install.log" 2>&1
}
serve() { cd "$DIR/app" && RAILS_ENV=production RAILS_SERVE_STATIC_FILES=1 exec ruby3.1 bin/rails server -u webrick -b 127.0.0.1 -p "$PORT"; }
ready() { curl -s -o /dev/null "$BASE/projects/kept"; }
dump() { sqlite3 -cmd ".timeout 30000" "$DIR/redmine.db" ".backup '$DIR/copy.db'"; sqlite3 "$DIR/copy.db" "UPDATE users SET last_login_on = NULL, updated_on = created_on; UPDATE tokens SET updated_on = created_on;" .dump; (cd "$DIR/app/files" && find . -type f | sort); sed -n 's/^\(To\|Cc\|Bcc\): /mail to &/p' "$DIR/mails"; }
smoke() { curl -s "$BASE/projects/kept/wiki" | grep -q "Kept page" && curl -s "$BASE/issues/1" | grep -q "Kept issue 0"; }
