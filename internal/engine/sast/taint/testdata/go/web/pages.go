package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	htmltemplate "html/template"
	"io"
	"net/http"
	"strings"
	"text/template"
)

func templates(w http.ResponseWriter, r *http.Request) {
	t := template.Must(template.New("x").Funcs(template.FuncMap{"up": strings.ToUpper}).Parse("{{.}}"))
	t.Execute(w, r.FormValue("a"))                                      // want html
	t.ExecuteTemplate(w, "x", map[string]string{"a": r.FormValue("a")}) // want html
	h := htmltemplate.Must(htmltemplate.New("x").Parse("{{.}}"))
	h.Execute(w, r.FormValue("a"))
	h.Execute(w, htmltemplate.HTML(r.FormValue("a"))) // want html
	fmt.Fprintf(w, "<b>%s</b>", r.FormValue("a"))     // want html
	w.Write([]byte(r.FormValue("a")))                 // want html
	io.WriteString(w, r.FormValue("a"))               // want html
	bw := bufio.NewWriter(w)
	bw.WriteString(r.FormValue("a")) // want html
	fmt.Fprint(w, html.EscapeString(r.FormValue("a")))
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(r.FormValue("a")))
}
func jsonAnswer(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(r.FormValue("a"))
	io.Copy(w, r.Body) // want html
}
