package registries_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/api/apitest"
)

func TestSearchImages(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		const path = "/dockerhub/search/images"
		var got map[string]any
		w.AsPerson("stranger").Get(path + "?query=nginx").Want(200).Into(&got)
		want := map[string]any{"count": 1.0, "results": []any{map[string]any{
			"repo_name": "library/nginx", "repo_owner": "", "short_description": "", "star_count": 7.0,
			"pull_count": 0.0, "is_official": true, "is_automated": false}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("found (-want +got):\n%s", d)
		}
		w.AsPerson("stranger").Get(path + "?query=away").Want(503)
		w.AsPerson("stranger").Get(path + "?query=" + strings.Repeat("x", 101)).Want(400)
		w.As("").Get(path + "?query=nginx").Want(401)
	})
}
