package workload

import (
	"slices"
	"testing"

	"merlon/internal/engine/iac/document"
)

func TestCompose(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"latest with the socket": {"services:\n  proxy:\n    image: traefik:latest\n    volumes:\n      - /var/run/docker.sock:/var/run/docker.sock:ro\n",
			[]string{"mutable-image-with-host-access:3"}},
		"no tag, privileged": {"services:\n  a:\n    image: registry.example.com:5000/team/agent\n    privileged: true\n",
			[]string{"mutable-image-with-host-access:3"}},
		"long form of a volume": {"services:\n  a:\n    image: agent:edge\n    volumes: [{type: bind, source: /, target: /host}]\n",
			[]string{"mutable-image-with-host-access:3"}},
		"processes of the host":  {"services:\n  a: {image: agent, pid: host}\n", []string{"mutable-image-with-host-access:2"}},
		"a version":              {"services:\n  a: {image: 'traefik:v3.1', privileged: true}\n", nil},
		"a digest":               {"services:\n  a: {image: 'traefik@sha256:0123', privileged: true}\n", nil},
		"a variable":             {"services:\n  a: {image: 'traefik:${TAG}', privileged: true}\n", nil},
		"built here":             {"services:\n  a: {build: ., privileged: true}\n", nil},
		"built here with a name": {"services:\n  a: {build: ., image: shop, privileged: true}\n  b: {build: ., image: shop}\n", nil},
		"moving tags": {"services:\n  a: {image: 'redis:7.4'}\n  b:\n    image: caddy:latest\n  c: {image: shop/web}\n",
			[]string{"mutable-image:4"}},
		"no access to the host":    {"services:\n  a: {image: 'redis:7.4', volumes: ['data:/data', '/var/run/redis:/run']}\n", nil},
		"a pid of another service": {"services:\n  a: {image: 'redis:7', pid: 'service:b'}\n", nil},

		"JDBC": {"services:\n  a:\n    environment:\n      URL: jdbc:mysql://db.example.com/shop?useSSL=false\n",
			[]string{"database-connection-without-tls:4"}},
		"libpq": {"services:\n  a:\n    environment:\n      - URL=postgres://app:x@10.0.0.7:5432/shop?sslmode=disable\n",
			[]string{"database-connection-without-tls:4"}},
		"SQL Server": {"services:\n  a:\n    environment:\n      DB: Server=tcp:sql.example.com,1433;Encrypt=False;Database=x\n",
			[]string{"database-connection-without-tls:4"}},
		"a service of the file": {"services:\n  db: {image: 'postgres:17'}\n  a:\n    environment: {URL: 'postgres://db/shop?sslmode=disable'}\n", nil},
		"this machine":          {"services:\n  a:\n    environment: {URL: 'jdbc:mysql://localhost:3306/shop?useSSL=false'}\n", nil},
		"with TLS":              {"services:\n  a:\n    environment: {URL: 'postgres://db.example.com/shop?sslmode=verify-full'}\n", nil},

		"anonymous administrators": {"services:\n  g:\n    environment:\n      GF_AUTH_ANONYMOUS_ENABLED: true\n      GF_AUTH_ANONYMOUS_ORG_ROLE: Admin\n",
			[]string{"anonymous-administrator:5"}},
		"anonymous viewers": {"services:\n  g:\n    environment: [GF_AUTH_ANONYMOUS_ENABLED=true, GF_AUTH_ANONYMOUS_ORG_ROLE=Viewer]\n", nil},
		"turned off":        {"services:\n  g:\n    environment: [GF_AUTH_ANONYMOUS_ENABLED=false, GF_AUTH_ANONYMOUS_ORG_ROLE=Admin]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := found(t, document.Compose, tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
