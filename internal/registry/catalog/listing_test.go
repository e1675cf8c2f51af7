package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"merlon/internal/errs"
	"merlon/internal/registry/credential"
)

// TestListsThatGoOn reads a list part by part, each from where the one before it ended.
func TestListsThatGoOn(t *testing.T) {
	all := []string{"a/1", "a/2", "shop/1", "shop/2", "shop/3", "z/1", "z/2", "z/3", "z/4"}
	asked := 0
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil {
			t.Errorf("asked %s", r.URL)
		}
		from := 0
		for last := r.URL.Query().Get("last"); from < len(all) && all[from] <= last; from++ {
		}
		to := min(from+n, len(all))
		if to < len(all) {
			w.Header().Set("Link", fmt.Sprintf(`</elsewhere?last=%s&n=%d>; rel="next"`,
				strings.ReplaceAll(all[to-1], "/", "%2F"), n))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"repositories": all[from:to]}) // to this test
	})
	c := client(t)
	a := account(t, credential.Google, credential.Fields{RegistryHostname: u, GCPProjectID: "shop"}, "s3cret")
	var got []string
	p := Page{Size: 2}
	for {
		part, err := c.Images(t.Context(), a, "", p)
		if err != nil || len(part.Items) > 2 {
			t.Fatalf("%+v, %v", part, err)
		}
		for _, i := range part.Items {
			got = append(got, i.Name)
		}
		if p.From = part.Next; p.From == "" {
			break
		}
	}
	if strings.Join(got, " ") != "shop/1 shop/2 shop/3" || asked > 6 {
		t.Errorf("got %v after %d questions", got, asked)
	}
	for _, from := range []string{"%%", "bm90;YSBxdWVyeQ", strings.Repeat("=", 9)} {
		if _, err := c.Images(t.Context(), a, "", Page{Size: 2, From: from}); !errs.Is(err, errs.Invalid) {
			t.Errorf("from %q: %v", from, err)
		}
	}

	// One that leads elsewhere, or in a circle, is not followed.
	for _, link := range []string{"https://evil.example/v2/_catalog?last=a", "/v2/_catalog?n=2", "/v2/_catalog"} {
		u := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "<"+link+`>; rel="next"`)
			_, _ = w.Write([]byte(`{"repositories":["a"]}`)) // to this test
		})
		a := account(t, credential.Azure, credential.Fields{ACRLoginServer: u, ServicePrincipalID: "x"}, "s3cret")
		if _, err := c.Images(t.Context(), a, "", Page{Size: 2}); !errs.Is(err, errs.Unavailable) {
			t.Errorf("%s: %v", link, err)
		}
	}
}
