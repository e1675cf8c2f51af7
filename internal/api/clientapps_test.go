package api_test

import (
	"testing"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

func TestClientApps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		r := apitest.New(t, db, clock, func(c *api.Config) {
			c.ClientApps = api.ClientApps{CLI: api.ClientApp{AppID: "a"}, VSCode: api.ClientApp{AppID: "b"},
				IntelliJ: api.ClientApp{AppID: "c"}}
		})
		answer := r.As("").Get("/client-apps").Want(200)
		for path, want := range map[string]string{"cli.appId": "a", "vscode.appId": "b", "intellij.appId": "c"} {
			if got := answer.Text(path); got != want {
				t.Errorf("%s: got %q, want %q", path, got, want)
			}
		}
	})
}
