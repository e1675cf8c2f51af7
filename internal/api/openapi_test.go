package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// documentPath is the checked-in document.
var documentPath = filepath.Join("..", "..", "docs", "openapi.json")

func TestDocumentIsTheCheckedInOne(t *testing.T) {
	a := api.New(api.Config{
		Region:  api.Region{Name: "eu", BaseURL: "https://api.example.com", AuthURL: "https://auth.example.com"},
		Version: api.Version{Version: "1"},
	})
	text, err := a.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(documentPath, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got.Bytes()) {
		t.Errorf("docs/openapi.json is not the document of the API, %s.\n"+
			"If the change is meant, run: go test ./internal/api -run TestDocumentIsTheCheckedInOne -update",
			firstDifference(want, got.Bytes()))
	}
}

// firstDifference says where two texts part.
func firstDifference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "from this line on: want " + strings.TrimSpace(a[i]) + ", got " + strings.TrimSpace(b[i])
		}
	}
	return "which is longer or shorter"
}

func TestDocumentIsServed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		var fromJSON, fromYAML map[string]any
		answer := r.As("").Get("/openapi.json").Want(http.StatusOK).Into(&fromJSON)
		if fromJSON["openapi"] != "3.1.0" {
			t.Errorf("got version %v of OpenAPI, want 3.1.0", fromJSON["openapi"])
		}
		if err := yaml.Unmarshal(r.As("").Get("/openapi.yaml").Want(http.StatusOK).Body, &fromYAML); err != nil {
			t.Fatal(err)
		}
		if len(fromYAML["paths"].(map[string]any)) != len(fromJSON["paths"].(map[string]any)) {
			t.Error("the YAML form has other paths than the JSON form")
		}
		if bytes.Contains(answer.Body, []byte(`"$schema"`)) {
			t.Error("the document speaks of $schema, which the contract does not know")
		}
	})
}

// A document that everything fits would make every other test worthless.
func TestDocumentRefusesWhatDoesNotFit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock)
		text, err := r.API.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		d, err := apitest.NewDocument(text)
		if err != nil {
			t.Fatal(err)
		}
		const id = "0198c0de-0000-8000-8000-000000000001"
		asJSON := http.Header{"Content-Type": {"application/json"}}
		good := `{"organizations":[{"id":"` + id +
			`","name":"","description":"","website":"","email":"","maxTokenLifetimeDays":0,"concurrentScanLimit":1}]}`
		for _, tt := range []struct {
			name, method, path string
			status             int
			header             http.Header
			body               string
			fits               bool
		}{
			{"right", "GET", "/organizations", 200, asJSON, good, true},
			{"a member is missing", "GET", "/organizations", 200, asJSON, strings.Replace(good, `"name":"",`, "", 1),
				false},
			{"null for a list", "GET", "/organizations", 200, asJSON, `{"organizations":null}`, false},
			{"a number is text", "GET", "/organizations", 200, asJSON, strings.Replace(good, ":1}", `:"1"}`, 1), false},
			{"a fraction", "GET", "/organizations", 200, asJSON, strings.Replace(good, ":1}", ":1.5}", 1), false},
			{"no UUID", "GET", "/organizations", 200, asJSON, strings.Replace(good, id, "x", 1), false},
			{"another status", "GET", "/organizations", 201, asJSON, good, false},
			{"another type", "GET", "/organizations", 200, http.Header{"Content-Type": {"text/plain"}}, good, false},
			{"no JSON", "GET", "/organizations", 200, asJSON, "{", false},
			{"no problem", "GET", "/organizations", 401, asJSON, `{"message":"x"}`, false},
			{"no problem of any kind", "GET", "/organizations", 503, asJSON, `{}`, false},
			{"an operation that is not there", "POST", "/organizations", 200, asJSON, good, false},
			{"an address that is not there", "GET", "/nothing", 404, asJSON, `{}`, false},
		} {
			err := d.Check(tt.method, tt.path, tt.status, tt.header, []byte(tt.body))
			if (err == nil) != tt.fits {
				t.Errorf("%s: got %v", tt.name, err)
			}
		}
	})
}

func TestStreamedBodiesAreInTheDocument(t *testing.T) {
	text, err := api.New(api.Config{Log: slog.New(slog.DiscardHandler)}).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	type operation struct {
		RequestBody struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	var document struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, method string
		types        []string
	}{
		{"/uploads/{token}", "put", []string{"application/zip"}},
		{"/project/{projectId}/scan/start", "post", []string{"application/json", "multipart/form-data"}},
	} {
		content := document.Paths[c.path][c.method].RequestBody.Content
		for _, contentType := range c.types {
			if content[contentType].Schema == nil {
				t.Errorf("%s takes no %s in the document", c.path, contentType)
			}
		}
	}
}
