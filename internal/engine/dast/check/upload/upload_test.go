package upload

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"

	"merlon/internal/engine/dast/activescan"
	"merlon/internal/engine/dast/activescan/activescantest"
	"merlon/internal/engine/dast/message"
	"merlon/internal/scan"
)

// store is an application with one upload; serve answers for its files.
type store struct {
	takes  func(name string) bool
	says   func(name string) string
	folder string // of the application
	prefix string
	serve  func(w http.ResponseWriter, name, content string)
	image  bool                            // it looks at the content
	names  func(file, field string) string // what the file is called there
	mu     sync.Mutex
	files  map[string]string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("X-Powered-By", "PHP/8.2")
	if r.URL.Path == s.folder+"/up" && r.Method == http.MethodPost {
		f, h, err := r.FormFile("f")
		if err != nil || !s.takes(h.Filename) {
			fmt.Fprint(w, "not taken")
			return
		}
		content, _ := io.ReadAll(f)
		if s.image && http.DetectContentType(content) != "image/gif" {
			fmt.Fprint(w, "no image")
			return
		}
		name := h.Filename
		if s.names != nil {
			name = s.names(name, r.FormValue("name"))
		}
		s.files[path.Base(path.Clean(name))] = string(content)
		fmt.Fprint(w, s.says(name))
		return
	}
	name := path.Base(r.URL.Path)
	content, ok := s.files[name]
	if !ok || r.URL.Path != s.prefix+name {
		http.Error(w, "no "+name, http.StatusNotFound)
		return
	}
	s.serve(w, name, content)
}

// runs is a server that runs files, as far as the test's need it.
func runs(w http.ResponseWriter, name, content string) {
	var a, b int
	if before, program, ok := strings.Cut(content, "<?php echo "); ok && strings.HasSuffix(name, ".php") ||
		strings.HasSuffix(name, ".phtml") {
		if _, err := fmt.Sscanf(program, "%d*%d; ?>", &a, &b); err == nil {
			fmt.Fprint(w, before, a*b)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, content)
}

func plain(w http.ResponseWriter, _, content string) {
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, content)
}

func TestCheck(t *testing.T) {
	all := func(string) bool { return true }
	noPHP := func(name string) bool { return !strings.HasSuffix(name, ".php") }
	noProgram := func(name string) bool { return strings.HasSuffix(name, ".html") }
	images := func(name string) bool { return strings.HasSuffix(name, ".png") }
	relative := func(name string) string { return "<pre>files/kept/" + name + " stored</pre>" }
	silent := func(string) string { return "thanks" }
	echo := func(name string) string { return "stored " + name }
	for name, c := range map[string]struct {
		s    *store
		want string
	}{
		"runs": {&store{takes: all, says: relative, prefix: "/files/kept/", serve: runs}, "dast/upload/script " +
			"POST /up filename:f"},
		"image": {&store{takes: all, image: true, says: relative, prefix: "/files/kept/", serve: runs},
			"dast/upload/script POST /up filename:f"},
		"another": {&store{takes: noPHP, says: relative, prefix: "/files/kept/", serve: runs}, "dast/upload/script " +
			"POST /up filename:f"},
		"taken out": {&store{takes: noPHP, says: relative, prefix: "/files/kept/", serve: runs,
			names: func(file, _ string) string {
				return strings.Replace(strings.ReplaceAll(file, "phtml", ""), "php", "", 1)
			}}, "dast/upload/script POST /up filename:f"},
		"first of two": {&store{takes: func(name string) bool {
			return strings.Contains(name, ".png")
		}, says: relative, prefix: "/files/kept/", serve: runs}, "dast/upload/script POST /up filename:f"},
		"named": {&store{takes: images, says: relative, prefix: "/files/kept/", serve: runs,
			names: func(_, field string) string {
				if strings.HasSuffix(field, ".php") || strings.Contains(field, "html") {
					return "refused"
				}
				return field
			}}, "dast/upload/script POST /up multipart:name"},
		"its own": {&store{takes: images, says: relative, prefix: "/files/kept/", serve: runs,
			names: func(string, string) string {
				return "0123456789.png"
			}}, ""},
		"guessed": {&store{takes: all, says: silent, prefix: "/uploads/", serve: runs}, "dast/upload/script POST /up " +
			"filename:f"},
		"page": {&store{takes: noProgram, says: relative, prefix: "/files/kept/", serve: runs}, "dast/upload/page " +
			"POST /up filename:f"},
		"folder": {&store{takes: all, says: func(name string) string {
			return "stored /uploads/" + name
		}, folder: "/app", prefix: "/app/uploads/", serve: runs}, "dast/upload/script POST /app/up filename:f"},
		"images": {&store{takes: images, says: relative, prefix: "/files/kept/", serve: runs}, ""},
		"text":   {&store{takes: all, says: relative, prefix: "/files/kept/", serve: plain}, ""},
		"hidden": {&store{takes: all, says: echo, prefix: "/nobody/knows/", serve: runs}, ""},
		"attachment": {&store{takes: noProgram, says: relative, prefix: "/files/kept/",
			serve: func(w http.ResponseWriter, n, c string) {
				w.Header().Set("Content-Disposition", "attachment")
				runs(w, n, c)
			}}, ""},
		"source": {&store{takes: all, says: relative, prefix: "/files/kept/",
			serve: func(w http.ResponseWriter, _, c string) {
				plain(w, "", c+" // 1")
			}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.files = map[string]string{}
			got := activescantest.Attack(t, c.s, []*activescan.Rule{Rule}, []string{"GET /"},
				activescantest.Profile(scan.Standard), func(r *activescan.Engine) {
					up := activescantest.Request(t, r.Scope.Base().Scheme+"://"+r.Scope.Base().Host, "POST "+c.s.folder+
						"/up")
					up.Body = message.Body{Kind: message.Multipart, Params: []message.Param{{Name: "max", Value: "1"},
						{Name: "name", Value: "photo.png"}, {Name: "f", File: "test.txt", Type: "text/plain",
							Value: "test\n"}}}
					r.Sitemap.Add(up)
				})
			var want []string
			if c.want != "" {
				want = append(want, c.want)
			}
			activescantest.Expect(t, got, want...)
			if got.Requests > 24 {
				t.Errorf("%d requests", got.Requests)
			}
		})
	}
}
