# The administration of Django (Debian package python3-django) with its own users and groups
# and one more table.
NEEDS="python3 sqlite3"
LOGIN=/admin/login/ USER=ann PASSWORD=ann-Secret-7
CHANGING='^INSERT INTO sqlite_sequence|^INSERT INTO django_session|last_login'
VOLATILE='^(INSERT INTO django_session|INSERT INTO sqlite_sequence|INSERT INTO django_admin_log)|last_login'
setup() {
  mkdir -p "$DIR/app"; cd "$DIR/app"; python3 -m django startproject site . 2>/dev/null || python3 /usr/bin/django-admin startproject ordinary .
  [ -d ordinary ] || python3 -c 'import django.core.management as m; m.execute_from_command_line(["django-admin","startproject","ordinary","."])'
  python3 manage.py startapp notes
  cat > notes/models.py <<P
from django.db import models
class Note(models.Model):
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    done = models.BooleanField(default=False)
    def __str__(self): return self.title
P
  printf 'from django.contrib import admin\nfrom .models import Note\nclass N(admin.ModelAdmin):\n    list_display=("title","done")\n    list_editable=("done",)\n    search_fields=("title",)\nadmin.site.register(Note, N)\n' > notes/admin.py
  sed -i "s/INSTALLED_APPS = \[/INSTALLED_APPS = ['notes',/; s/ALLOWED_HOSTS = \[\]/ALLOWED_HOSTS = ['*']/" ordinary/settings.py
  python3 manage.py makemigrations notes >/dev/null; python3 manage.py migrate >/dev/null
  DJANGO_SUPERUSER_PASSWORD="$PASSWORD" python3 manage.py createsuperuser --noinput --username "$USER" --email ann@merlon.example >/dev/null
  python3 manage.py shell -c "from notes.models import Note; from django.contrib.auth.models import User, Group; [Note.objects.create(title='Kept %d' % i, text='Text of Ann') for i in range(3)]; User.objects.create_user('bob', 'bob@merlon.example', 'bob-Secret-7'); Group.objects.create(name='readers')"
}
serve() { cd "$DIR/app" && exec python3 manage.py runserver --noreload --insecure "127.0.0.1:$PORT"; }
ready() { curl -s -o /dev/null "$BASE/admin/login/"; }
dump() { sqlite3 "$DIR/app/db.sqlite3" .dump | sed -E "/^INSERT INTO auth_user /s/'20[0-9-]+ [0-9:.]+'|NULL/time/g"; }
smoke() { curl -s -c "$DIR/jar" -o "$DIR/page" "$BASE/admin/login/"; t=$(sed -n 's/.*csrfmiddlewaretoken" value="\([^"]*\)".*/\1/p' "$DIR/page" | head -1); curl -s -L -b "$DIR/jar" -c "$DIR/jar" -e "$BASE/admin/login/" "$BASE/admin/login/?next=/admin/notes/note/" -d "username=$USER" -d "password=$PASSWORD" -d "csrfmiddlewaretoken=$t" -d next=/admin/notes/note/ | grep -q "Kept 2"; }
