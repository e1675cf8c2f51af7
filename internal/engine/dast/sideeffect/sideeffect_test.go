package sideeffect

import (
	"net/http"
	"strings"
	"testing"

	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// post is a form as a crawl reads it: fields are "name", "name=value" with a value that the
// page shows, "hidden:name=value", "choice:name=value", "password:name=value", "button:name=value".
func post(path, label string, fields ...string) *message.Request {
	path, query, _ := strings.Cut(path, "?")
	r := &message.Request{Method: http.MethodPost, Scheme: "http", Host: "a.example", Path: path,
		Query: message.ParseQuery(query), Label: label, Origin: "form", Types: map[string]string{},
		Body: message.Body{Kind: message.Form}}
	for _, f := range fields {
		kind, rest, typed := strings.Cut(f, ":")
		if !typed {
			kind, rest = "", f
		}
		name, value, shown := strings.Cut(rest, "=")
		if kind == "" && shown {
			r.Shown = append(r.Shown, name)
		}
		if value == "" {
			value = "merlon-abcdef"
		}
		if kind != "" {
			r.Types["form:"+name] = kind
		}
		r.Body.Params = append(r.Body.Params, message.Param{Name: name, Value: value})
	}
	return r
}

func get(address string) *message.Request {
	r, err := message.Parse("http://a.example" + address)
	if err != nil {
		panic(err)
	}
	return r
}

// form is a form that a browser sends by GET.
func form(address, label string) *message.Request {
	r := get(address)
	r.Label, r.Origin = label, "form"
	return r
}

func TestOf(t *testing.T) {
	json := func(method, path, body string) *message.Request {
		return &message.Request{Method: method, Scheme: "http", Host: "a.example", Path: path,
			Body: message.Body{Kind: message.JSON, Text: []byte(body)}}
	}
	browsed := func(body string) *message.Request {
		r := json("POST", "/things", body)
		r.Origin = "browser"
		return r
	}
	const token = "hidden:csrf=0123456789abcdef"
	for name, c := range map[string]struct {
		r    *message.Request
		open bool // nobody has signed in
		want message.Effect
	}{
		"a page":                {get("/articles/5"), false, message.Reads},
		"a form to edit":        {get("/articles/5/edit"), false, message.Reads},
		"a page of settings":    {get("/settings?tab=mail"), false, message.Reads},
		"a list that is sorted": {get("/orders?order=asc"), false, message.Reads},
		"a link that deletes":   {get("/articles/5/delete"), false, message.Changes},
		"a link that hides":     {get("/items/5/hide"), false, message.Changes},
		"a link that accepts":   {get("/accept?id=5"), false, message.Changes},
		"a link that unlocks":   {get("/index.php?module=items&fn=unlock&id=4"), false, message.Changes},
		"a list of favorites":   {get("/items/favorites"), false, message.Reads},
		"a picture":             {get("/static/inline-delete.svg"), false, message.Reads},
		"a user, in a folder": {post("/admin/auth/user/add", "Save", "username"), false,
			message.Accounts},
		"a link that switches on": {get("/plugins?action=activate&plugin=x"), false, message.Changes},
		"a link with a token": {get("/shaare/visibility?id=5&token=0123456789abcdef"), false,
			message.Changes},
		"a link with a value":             {get("/show?token=0123456789abcdef"), false, message.Reads},
		"a link that switches on, German": {get("/erweiterung/aktivieren"), false, message.Changes},
		"a link to sign out":              {get("/logout"), false, message.Ends},
		"a search":                        {post("/search", "Search", "q"), false, message.Reads},
		"a search, Spanish":               {post("/buscar", "Buscar", "texto"), false, message.Reads},
		"a sign-in": {post("/login", "Sign in", "user", "password:password=x"), false,
			message.SignsIn},
		"a sign-in, named otherwise": {post("/start", "Go", "user", "password:password=x"), false,
			message.SignsIn},
		"a registration": {post("/register", "Sign up", "user", "mail", "password:password=x",
			"password:again=x"), false, message.Creates},
		"a comment": {post("/articles/5/comments", "Add comment", "text", token), false,
			message.Creates},
		"a comment, French": {post("/billets/5/commentaires", "Ajouter", "texte"), false,
			message.Creates},
		"a category": {post("/category/save", "Save", "title", token), false, message.Creates},
		"a user of an administrator": {post("/user/save", "Save", "username", "password:password=x",
			"password:confirmation=x", token), false, message.Accounts},
		"an API key": {post("/keys/create", "Save", "description", token), false,
			message.Accounts},
		"a role": {post("/members/5", "OK", "choice:is_admin=1"), false, message.Accounts},
		"settings": {post("/settings", "Update", "theme=default", token), false,
			message.Settings},
		"settings, German":     {post("/einstellungen", "Übernehmen", "titel"), false, message.Settings},
		"settings, Italian":    {post("/admin/impostazioni", "Salva", "titolo"), false, message.Settings},
		"settings, Portuguese": {post("/configurações", "Salvar", "titulo"), false, message.Settings},
		"integrations, empty as yet": {post("/integration", "Update", "pinboard_token",
			"choice:pinboard_enabled=1"), false, message.Settings},
		"a form that shows values": {post("/things/x", "OK", "title=Mine", "text=Hello"), false,
			message.Changes},
		"the same, of the scan":             {post("/things/x", "OK", "title=merlon-abcdef"), false, message.Owned},
		"values that an open page proposes": {post("/sum", "Go", "a=1", "b=2"), true, message.Creates},
		"the same with a token":             {post("/page", "Go", "a=1", token), true, message.Changes},
		"a button alone":                    {post("/feeds/5/x", "OK", "hidden:id=5"), false, message.Changes},
		"a rename by its button":            {post("/files", "Rename", "name"), false, message.Changes},
		"an update by a hidden field": {post("/x.php", "OK", "title", "hidden:action=update"), false,
			message.Changes},
		"a removal by its button": {post("/x", "Remove", "hidden:id=5"), false, message.Removes},
		"a removal, Spanish":      {post("/x", "Eliminar", "hidden:id=5"), false, message.Removes},
		"many choices": {post("/form", "Save", "name", "choice:a=1", "choice:b=1", "choice:c=1"),
			false, message.Settings},
		"choices of an administrator": {post("/Admin/Scrips/Create.html", "Create", "name", "choice:condition=1",
			"choice:action=1", "choice:template=1"), false, message.Settings},
		"choices of a user": {post("/projects/kept/issues/create", "Create", "name", "choice:tracker=1",
			"choice:status=1", "choice:priority=1"), false, message.Creates},
		"a column of a table": {post("/db.php?action=column_create&confirm=1&table=note", "Add", "name"),
			false, message.Changes},
		"a table": {post("/tables/create", "Create", "name"), false, message.Creates},
		"an object that is saved": {post("/Ticket/Display.html", "", "hidden:id=1", "Starts", "Due",
			"button:SubmitTicket=Save"), false, message.Changes},
		"an object that is saved, Spanish": {post("/ficha", "Guardar", "hidden:ficha_id=7", "texto"), false,
			message.Changes},
		"a new object that is saved": {post("/note", "Save", "hidden:id=0", "text"), false, message.Creates},
		"a reply to an object":       {post("/ticket", "Reply", "hidden:id=1", "text"), false, message.Creates},
		"a list that deletes by GET": {form("/Admin/Templates.html?DeleteTemplates=4&DeleteTemplates=8", "Go"),
			false, message.Removes},
		"a list of what was deleted": {form("/list?show_deleted=1", "Search"), false, message.Reads},
		"a search that is saved by GET": {form("/search?text=x&SavedSearchSave=Save", "Save"), false,
			message.Changes},
		"a search by GET":     {form("/search?text=x", "Search"), false, message.Reads},
		"a transfer":          {post("/transfer", "OK", "to", "amount"), false, message.Money},
		"a transfer, German":  {post("/konto/ueberweisung", "Weiter", "betrag"), false, message.Money},
		"an order, French":    {post("/panier", "Commander", "hidden:id=1"), false, message.Money},
		"an invitation":       {post("/team/invite", "OK", "mail"), false, message.Messages},
		"a test of a webhook": {post("/hooks/webhook", "Test", "url"), false, message.Messages},
		"data that is sent":   {json("POST", "/api/notes", `{"title":"x"}`), false, message.Creates},
		"data about users":    {json("POST", "/api/users", `{"name":"x"}`), false, message.Accounts},
		"data that replaces":  {json("PUT", "/api/notes/5", `{"title":"x"}`), false, message.Changes},
		"data that removes":   {json("DELETE", "/api/notes/5", ``), false, message.Removes},
		"data that installs": {json("POST", "/nodes", `{"module":"x","version":"1"}`), false,
			message.Settings},
		"a module that a form is sent to": {post("/index", "Add note", "hidden:module=notes", "text"), false,
			message.Creates},
		"data that a page stores again": {browsed(`{"flows":[{"id":"a1","label":"x"}],"rev":"1"}`), false,
			message.Changes},
		"data that a page sends": {browsed(`{"title":"x","tags":["a","b"]}`), false, message.Creates},
		"data with a list": {json("POST", "/pets", `{"tags":[{"id":1,"name":"x"}]}`), false,
			message.Creates},
		"a removal that a browser sends": {post("/admin/group/", "", "action=delete_selected", "item=1", "post=yes"),
			false, message.Removes},
		"data that pays":    {json("POST", "/api/bills/5/pay", `{"amount":1}`), false, message.Money},
		"data about rights": {json("POST", "/api/things", `{"role":"admin"}`), false, message.Accounts},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Classify(Operation{Request: c.r, Signed: !c.open, Mark: "merlon-abcdef"}); got != c.want {
				t.Errorf("%s %s: it %s, want: it %s", c.r.Method, c.r.Address(), got, c.want)
			}
		})
	}
}

// The summary of a description tells what a name does not.
func TestOfReadsTheDescription(t *testing.T) {
	r := &message.Request{Method: http.MethodPost, Scheme: "http", Host: "a.example", Path: "/v1/tx", ID: "tx1",
		Body: message.Body{Kind: message.JSON, Text: []byte(`{"n":1}`)}}
	if got := Classify(Operation{Request: r, About: "Transfer an amount to another account."}); got != message.Money {
		t.Errorf("it %s", got)
	}
	if got := Classify(Operation{Request: r, About: "Adds a note."}); got != message.Creates {
		t.Errorf("it %s", got)
	}
}

func answer(r *message.Request, status int, location, body string) *message.Response {
	h := http.Header{"Content-Type": {"text/html"}}
	if location != "" {
		h.Set("Location", location)
	}
	if strings.HasPrefix(body, "{") {
		h.Set("Content-Type", "application/json")
	}
	return &message.Response{Request: r, Status: status, Header: h, Body: []byte(body)}
}

func TestKeeperBoundsWhatIsCreated(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	r := post("/notes/save", "Save", "title")
	sent := 0
	for i := range 20 {
		if i == 10 {
			if sent != MaxCreated-reserved {
				t.Errorf("%d were sent before the last proofs", sent)
			}
			k.StartFinalRound()
		}
		end, err := k.Begin(r)
		if err != nil {
			continue
		}
		sent++
		end(answer(r, http.StatusFound, "/notes/7", ""))
	}
	if sent != MaxCreated || !k.Exhausted(r) {
		t.Errorf("%d were sent, exhausted: %v", sent, k.Exhausted(r))
	}
	made := k.Created()
	if len(made) != 1 || len(made[0].Objects) != MaxCreated || made[0].Objects[0].Where != "http://a.example/notes/7" ||
		made[0].Objects[0].Mark != "merlon-abcdef" {
		t.Errorf("listed: %+v", made)
	}

	full := NewGuard(scan.Full, true, "merlon-abcdef")
	for range 20 {
		end, err := full.Begin(r)
		if err != nil {
			t.Fatal(err)
		}
		end(answer(r, http.StatusFound, "/notes/7", ""))
	}
	if made := full.Created(); made[0].Count != 20 {
		t.Errorf("listed: %+v", made)
	}
}

func TestKeeperCountsWhatIsTaken(t *testing.T) {
	k := NewGuard(scan.Standard, false, "merlon-abcdef")
	for name, c := range map[string]struct {
		resp func(*message.Request) *message.Response
		want bool
	}{
		"/a-page":   {func(r *message.Request) *message.Response { return answer(r, 200, "", "<p>computed") }, false},
		"/refused":  {func(r *message.Request) *message.Response { return answer(r, 422, "", "<p>wrong") }, false},
		"/to-login": {func(r *message.Request) *message.Response { return answer(r, 302, "/login", "") }, false},
		"/register": {func(r *message.Request) *message.Response { return answer(r, 302, "/login", "") }, true},
		"/join":     {func(r *message.Request) *message.Response { return answer(r, 200, "", "<p>welcome") }, true},
		"/sign-up": {func(r *message.Request) *message.Response {
			return answer(r, 200, "", "<p>no mail could be sent<input name=title value=merlon-abcdef>")
		}, true},
		"/elsewhere": {func(r *message.Request) *message.Response { return answer(r, 302, "http://b.example/", "") },
			false},
		"/data": {func(r *message.Request) *message.Response { return answer(r, 200, "", `{"sum":5}`) }, false},
		"/object": {func(r *message.Request) *message.Response { return answer(r, 200, "", `{"card":{"id":5}}`) },
			true},
		"/created": {func(r *message.Request) *message.Response { return answer(r, 201, "", "") }, true},
		"/led":     {func(r *message.Request) *message.Response { return answer(r, 303, "/list", "") }, true},
	} {
		r := post(name, "OK", "title", "hidden:of="+name)
		r.Label = name // another kind of form
		for range 2 * MaxCreated {
			if end, err := k.Begin(r); err == nil {
				end(c.resp(r))
			}
		}
		if k.Exhausted(r) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

// What would not be found again is not created a second time.
func TestKeeperWantsTheMark(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	r := post("/notes/save", "Save", "title")
	end, err := k.Begin(r)
	if err != nil {
		t.Fatal(err)
	}
	end(answer(r, http.StatusFound, "/notes/7", ""))
	if _, err := k.Begin(r.With(r.Points()[0], "'--")); err == nil {
		t.Error("an object without a mark was allowed")
	}
	if _, err := k.Begin(r.With(r.Points()[0], "merlon-abcdef'--")); err != nil {
		t.Error(err)
	}
}

func TestKeeperRefuses(t *testing.T) {
	for profile, want := range map[scan.Profile]bool{scan.Standard: true, scan.Full: false} {
		k := NewGuard(profile, true, "merlon-abcdef")
		for _, r := range []*message.Request{post("/settings", "Update", "theme=x"),
			post("/user/save", "Save", "username", "password:password=x"), post("/pay", "OK", "amount")} {
			_, err := k.Begin(r)
			if browsed := k.Browse(r); (err != nil) != want || (browsed != nil) != want {
				t.Errorf("%s %s: %v, %v", profile, r.Path, err, browsed)
			}
		}
	}
}

// Objects of the scan are changed a few times as well.
func TestKeeperBoundsWhatIsChanged(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	r := post("/notes/7", "OK", "title=merlon-abcdef")
	r.Effect = k.Classify(r, "")
	sent := 0
	for range 20 {
		if end, err := k.Begin(r); err == nil {
			sent++
			end(answer(r, http.StatusFound, "/notes/7", ""))
		}
	}
	if r.Effect != message.Owned || sent != MaxCreated || len(k.Created()) > 0 {
		t.Errorf("it %s, %d were sent, listed %v", r.Effect, sent, k.Created())
	}
}

// What a browser sends does not say what its form showed: the guard has seen the form.
func TestKeeperKnowsTheFormsOfABrowser(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	edit := post("/about", "Go", "nickname=jane")
	sent := post("/about", "", "nickname")
	sent.Origin, sent.Types = "browser", nil
	if err := k.Browse(sent); err != nil {
		t.Errorf("before the form was seen: %v", err)
	}
	if e := k.Classify(edit, ""); e != message.Changes {
		t.Fatalf("the form %s", e)
	}
	if err := k.Browse(sent); err == nil {
		t.Error("a browser may send a form that changes what it shows")
	}
	other := post("/notes", "", "nickname")
	other.Origin = "browser"
	if err := k.Browse(other); err != nil {
		t.Errorf("another address: %v", err)
	}
}

// What a browser alone may have created is listed, too.
func TestCreatedListsWhatABrowserSent(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	r := post("/notes", "", "title")
	r.Origin = "browser"
	if err := k.Browse(r); err != nil {
		t.Fatal(err)
	}
	made := k.Created()
	if len(made) != 1 || made[0].Count != 1 || len(made[0].Objects) != 1 ||
		made[0].Objects[0].Mark != "merlon-abcdef" || made[0].Objects[0].Reason == "" {
		t.Errorf("listed: %+v", made)
	}
}

// Programs that choose by the query what to do take a form's address without its fields as
// well. The page of a form is no such address.
func TestKeeperKnowsTheAddressesOfForms(t *testing.T) {
	k := NewGuard(scan.Standard, true, "merlon-abcdef")
	rename := post("/db.php?action=table_rename&table=note&confirm=1", "Rename", "newname=note")
	rename.Referer = "http://a.example/db.php?action=table_rename&table=note"
	edit := post("/db.php?page=edit&table=note", "Update", "about=note")
	edit.Referer = edit.Address()
	for _, r := range []*message.Request{rename, edit} {
		if e := k.Classify(r, ""); !e.Restricted() {
			t.Fatalf("the form %s", e)
		}
	}
	for address, want := range map[string]message.Effect{
		"/db.php?confirm=1&action=table_rename&table=note": message.Changes,
		"/db.php?action=table_rename&table=note":           message.Reads,
		"/db.php?page=edit&table=note":                     message.Reads,
	} {
		if e := k.Classify(get(address), ""); e != want {
			t.Errorf("%s %s", address, e)
		}
	}
}

// A scan that is signed in makes no account by a sign-up form, not even as a guest: its
// application may tell administrators by mail.
func TestKeeperSignsNobodyUp(t *testing.T) {
	for signed, want := range map[bool]message.Effect{true: message.Messages, false: message.Creates} {
		k := NewGuard(scan.Standard, signed, "merlon-abcdef")
		r := post("/account/register", "Submit", "login", "mail", "password:password=x")
		r.Guest = true
		if e := k.Classify(r, ""); e != want {
			t.Errorf("signed in %v: it %s", signed, e)
		}
	}
}
