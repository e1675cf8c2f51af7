package server

import (
	"bytes"
	"errors"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"merlon/internal/errs"
	"merlon/internal/oidc"
)

// confidentialClients reads the applications that keep a secret; an empty path
// means that there are none. An unknown key is an error that names its line.
func confidentialClients(path string) ([]oidc.Confidential, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "confidential-clients-file")
	}
	var list []struct {
		ID          string   `yaml:"id"`
		Name        string   `yaml:"name"`
		Secret      string   `yaml:"secret"`
		Redirects   []string `yaml:"redirect-uris"`
		AfterLogout []string `yaml:"post-logout-redirect-uris"`
		IDTokenAlg  string   `yaml:"id-token-signed-response-alg"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, errs.Wrap(errs.Invalid, err, "confidential-clients-file %s", path)
	}
	var out []oidc.Confidential
	for _, c := range list {
		out = append(out, oidc.Confidential{
			ID: c.ID, Name: c.Name, Secret: c.Secret, RedirectURIs: c.Redirects, PostLogoutRedirectURIs: c.AfterLogout,
			IDTokenAlg: c.IDTokenAlg,
		})
	}
	return out, nil
}
