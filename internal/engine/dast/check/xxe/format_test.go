package xxe

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
)

var includes = regexp.MustCompile(`<xi:include parse="text" href="([^"]+)"/>`)

// calls asks for the entities of a document that are at addresses.
func calls(body []byte, fetch func(string) string) {
	for _, m := range entity.FindAllStringSubmatch(string(body), -1) {
		if m[2] != "" && strings.HasPrefix(m[3], "http") {
			fetch(m[3])
		}
	}
}

func TestFormats(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	page := func(path, ending string, read func(file io.ReaderAt, size int64)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			file, header, err := r.FormFile("list")
			if err != nil || !strings.HasSuffix(header.Filename, ending) {
				http.Error(w, "not that", http.StatusBadRequest)
				return
			}
			read(file, header.Size)
			fmt.Fprint(w, "Thank you.")
		})
	}
	picture := func(file io.ReaderAt, size int64) {
		body, _ := io.ReadAll(io.NewSectionReader(file, 0, size))
		calls(body, fetch)
	}
	table := func(name string) func(file io.ReaderAt, size int64) {
		return func(file io.ReaderAt, size int64) {
			archive, err := zip.NewReader(file, size)
			if err != nil {
				t.Error(err)
				return
			}
			part, err := archive.Open(name)
			if err != nil {
				t.Error(err)
				return
			}
			body, _ := io.ReadAll(part)
			calls(body, fetch)
		}
	}
	page("/bad/svg", ".svg", picture)
	page("/bad/types", ".xlsx", table("[Content_Types].xml"))
	page("/bad/cells", ".xlsx", table("xl/worksheets/sheet1.xml"))
	page("/good/other", ".xlsx", table("xl/workbook.xml"))
	page("/good/png", ".png", picture)
	var settings []activescantest.Option
	for _, p := range []string{"/bad/svg", "/bad/types", "/bad/cells", "/good/other", "/good/png"} {
		settings = append(settings, upload(p))
	}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, nil,
		append(settings, activescantest.Listening(t))...)
	activescantest.Expect(t, got, "dast/xxe/external POST /bad/svg multipart:list", "dast/xxe/external POST "+
		"/bad/types "+
		"multipart:list", "dast/xxe/external POST /bad/cells multipart:list")
}

func TestInclusion(t *testing.T) {
	fetch := activescantest.Fetch(t)
	mux := http.NewServeMux()
	read := func(document string) {
		if xml.Unmarshal([]byte(document), new(struct{})) != nil {
			return
		}
		for _, m := range includes.FindAllStringSubmatch(document, -1) {
			fetch(m[1])
		}
	}
	page := func(path string, f func(text string)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			text := string(body)
			if !strings.HasPrefix(text, "<") {
				text = r.FormValue("name")
			}
			f(text)
			fmt.Fprint(w, "Thank you.")
		})
	}
	page("/bad/written", func(v string) { read("<order><name>" + v + "</name></order>") })
	page("/bad/document", read)
	page("/good/escaped", func(v string) {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(v))
		read("<order><name>" + b.String() + "</name></order>")
	})
	page("/good/links", func(v string) {
		for _, address := range regexp.MustCompile(`http://127[^\s"<]+`).FindAllString(v, -1) {
			fetch(address)
		}
	})
	operations := []string{"GET /bad/written?name=tea", "POST /bad/document <order><name>tea</name></order>",
		"GET /good/escaped?name=tea", "GET /good/links?name=tea"}
	got := activescantest.Attack(t, mux, []*activescan.Rule{Rule}, operations, activescantest.Listening(t))
	activescantest.Expect(t, got, "dast/xxe/external GET /bad/written query:name", "dast/xxe/external POST "+
		"/bad/document "+
		"xml:order/name")
}
