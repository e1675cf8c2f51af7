package libraries

import (
	"net/http"

	"github.com/ChrisTrenkamp/goxpath"
	"github.com/coder/websocket"
	"github.com/go-xmlpath/xmlpath"
	gorilla "github.com/gorilla/websocket"
)

func search(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	goxpath.MustParse("//user[name='" + name + "']") // want xpath
	xmlpath.Compile("//user[name='" + name + "']")   // want xpath
	xmlpath.Compile("//user[name='x']")
}

func dial(w http.ResponseWriter, r *http.Request) {
	websocket.Dial(r.Context(), r.FormValue("to"), nil) // want ssrf
}

func dialOther(w http.ResponseWriter, r *http.Request) {
	gorilla.DefaultDialer.Dial(r.FormValue("to"), nil) // want ssrf
	gorilla.DefaultDialer.Dial("wss://example.org/"+r.FormValue("to"), nil)
}
