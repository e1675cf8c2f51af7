package registries_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"merlon/internal/api"
	"merlon/internal/api/apitest"
	"merlon/internal/store"
	"merlon/internal/store/storetest"
)

const ecr = "/integrations/ecr/container-registry"

// TestEcrCredentials stores, names, rotates and lists keys of users.
func TestEcrCredentials(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin, reader := w.AsPerson("administrator"), w.AsPerson("read_only")
		project := strings.TrimPrefix(w.Project, "/project/")
		body := func(changes ...string) map[string]any {
			out := map[string]any{"name": "CI", "awsRegion": "eu-west-1", "awsAccessKeyId": "AKIAIOSFODNN7EXAMPLE",
				"awsSecretAccessKey": "s3cret"}
			for i := 0; i < len(changes); i += 2 {
				if out[changes[i]] = changes[i+1]; changes[i+1] == "" {
					delete(out, changes[i])
				}
			}
			return out
		}
		store := ecr + w.Organization + "/credentials"
		for what, bad := range map[string]map[string]any{
			"a region that is none":         body("awsRegion", "evil.example"),
			"a region with an address":      body("awsRegion", "us-east-1.evil.example/"),
			"an account that is none":       body("awsAccountId", "12"),
			"a name that is none":           body("name", " "),
			"a key that is none":            body("awsAccessKeyId", "x y"),
			"a type that is none":           body("credentialType", "password"),
			"a role without its parts":      body("credentialType", "iam_role"),
			"a project of nobody":           body("projectId", "nonsense"),
			"a registry that does not want": body("awsSecretAccessKey", "wrong"),
		} {
			if got := admin.Post(store, bad); got.Status != 400 {
				t.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
		}
		made := admin.Post(store, body()).Want(201)
		id := made.Text("id")
		if made.Text("awsAccountId") != "123456789012" || made.Text("awsAccessKeyId") != "AKIAIOSFODNN7EXAMPLE" ||
			made.Text("credentialType") != "static_keys" {
			t.Errorf("made %s", made.Body)
		}
		if got := admin.Post(store, body("name", "Deploy")).Want(201).Text("id"); got == id {
			t.Error("another name is the same credential")
		}
		// Rotation by the identifier gives new keys and a new name.
		rotated := admin.Post(store, body("credentialId", id, "name", "Build", "awsAccessKeyId", "AKIAIOSFODNN7ROTATED",
			"projectId", project)).Want(201)
		if rotated.Text("id") != id || rotated.Text("awsAccessKeyId") != "AKIAIOSFODNN7ROTATED" {
			t.Errorf("rotated %s", rotated.Body)
		}
		admin.Post(store, body("credentialId", id, "name", "Deploy")).Want(409)
		admin.Post(store, body("credentialId", id, "awsRegion", "us-east-1")).Want(400)
		admin.Post(store, body("credentialId", id, "awsAccountId", "000000000000")).Want(400)
		admin.Post(store, body("credentialId", "00000000-0000-4000-8000-000000000000")).Want(404)

		list := admin.Get(store).Want(200)
		if list.Text("0.name") != "Build" || list.Text("1.name") != "Deploy" ||
			list.Text("0.registryUrl") != "123456789012.dkr.ecr.eu-west-1.amazonaws.com" {
			t.Errorf("list %s", list.Body)
		}
		if got := list.Value("0.linkedProjectCount"); got != float64(1) {
			t.Errorf("%v projects are linked", got)
		}
		reader.Get(store).Want(403)
		all := admin.Get("/integrations/container-registry" + w.Organization + "/credentials").Want(200)
		if all.Text("ecr.0.name") != "Build" || all.Text("ecr.0.ecrDetails.awsAccountId") != "123456789012" ||
			all.Text("ecr.0.linkedProjectIds.0") != project {
			t.Errorf("all %s", all.Body)
		}
		if got := reader.Get(w.Organization +
			"/integrations/overview").Want(200); got.Text("containerRegistry.byType.0.type") != "ecr" {
			t.Errorf("overview %s", got.Body)
		}
		item := reader.Get(ecr + w.Project + "/credentials").Want(200)
		for _, answer := range [][]byte{list.Body, all.Body, item.Body} {
			if bytes.Contains(answer, []byte("AKIA")) || bytes.Contains(answer, []byte("s3cret")) {
				t.Errorf("a list tells %s", answer)
			}
		}
		links := store + "/" + id + "/projects"
		if got := admin.Get(links).Want(200).Text("projectIds.0"); got != project {
			t.Errorf("linked to %s", got)
		}
		admin.Do("PUT", links, map[string]any{"projectIds": []string{}}).Want(200)
		reader.Get(ecr + w.Project + "/credentials/" + id).Want(404)
		foreign := w.Person("foreign")
		org := w.As(foreign).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		w.As(foreign).Get(ecr + "/organization/" + org + "/credentials/" + id + "/projects").Want(404)
		w.As(foreign).Post(ecr+"/organization/"+org+"/credentials", body("credentialId", id)).Want(404)

		bulk := body("registryType", "ecr", "name", "Many")
		bulk["projectIds"] = []string{project}
		applied := admin.Post("/integrations/container-registry"+w.Organization+"/bulk-apply", bulk).Want(201)
		tags := reader.Get(ecr + w.Project + "/images/a%2Fb/tags?nextToken=here&credentialId=" +
			applied.Text("credentialId")).Want(200)
		if tags.Text("repositoryName") != "a/b" || tags.Text("nextToken") != "after here" ||
			tags.Value("tags.0.size") != float64(50) {
			t.Errorf("tags %s", tags.Body)
		}
	})
}

// TestEcrRoles has an organization alone use what was prepared for it.
func TestEcrRoles(t *testing.T) {
	apitest.EachWorld(t, func(t *testing.T, w *apitest.World) {
		admin := w.AsPerson("administrator")
		prepare := ecr + w.Organization + "/credentials/prepare-iam-role"
		first := admin.Post(prepare, map[string]any{"awsRegion": "eu-west-1"}).Want(200)
		second := admin.Post(prepare,
			map[string]any{"awsRegion": "eu-west-1", "projectId": strings.TrimPrefix(w.Project, "/project/")}).Want(200)
		if first.Text("externalId") == second.Text("externalId") {
			t.Error("two calls got one identifier")
		}
		var trust, permissions struct {
			Statement []struct {
				Effect    string
				Principal map[string]string
				Condition map[string]map[string]string
				Action    []string
				Resource  string
			}
		}
		for name, v := range map[string]any{"trustPolicyJson": &trust, "permissionPolicyJson": &permissions} {
			if err := json.Unmarshal([]byte(first.Text(name)), v); err != nil {
				t.Fatal(err)
			}
		}
		s := trust.Statement[0]
		if s.Principal["AWS"] != "arn:aws:iam::999999999999:user/merlon" ||
			s.Principal["AWS"] != first.Text("trustedPrincipalArn") ||
			s.Condition["StringEquals"]["sts:ExternalId"] != first.Text("externalId") ||
			s.Action[0] != "sts:AssumeRole" {
			t.Errorf("trust %s", first.Text("trustPolicyJson"))
		}
		if got := permissions.Statement[1]; got.Resource != "arn:aws:ecr:eu-west-1:*:repository/*" ||
			strings.Contains(strings.Join(got.Action, " "), "*") {
			t.Errorf("permissions %s", first.Text("permissionPolicyJson"))
		}
		admin.Post(prepare, map[string]any{"awsRegion": "cn-north-1"}).Want(400)
		admin.Post(prepare, map[string]any{"awsRegion": "nowhere"}).Want(400)
		admin.Post(prepare, map[string]any{"awsRegion": "eu-west-1",
			"projectId": "00000000-0000-4000-8000-000000000000"}).Want(404)
		w.AsPerson("read_only").Post(prepare, map[string]any{"awsRegion": "eu-west-1"}).Want(403)

		role := map[string]any{"name": "Role", "credentialType": "iam_role", "awsRegion": "eu-west-1",
			"roleArn": "arn:aws:iam::210987654321:role/images/pull", "externalId": first.Text("externalId")}
		made := admin.Post(ecr+w.Organization+"/credentials", role).Want(201)
		if made.Text("awsAccountId") != "210987654321" || made.Text("roleArn") != role["roleArn"] ||
			bytes.Contains(made.Body, []byte(first.Text("externalId"))) {
			t.Errorf("made %s", made.Body)
		}
		// What was prepared for one organization is of no use to another.
		foreign := w.Person("foreign")
		org := w.As(foreign).Post("/organization", apitest.NewOrganization).Want(201).Text("organizationId")
		w.As(foreign).Post(ecr+"/organization/"+org+"/credentials", role).Want(400)
		for what, value := range map[string]string{"awsAccountId": "123456789012", "awsRegion": "cn-north-1",
			"externalId": "mine", "roleArn": "arn:aws:iam::1:role/x"} {
			bad := map[string]any{}
			for k, v := range role {
				bad[k] = v
			}
			bad[what] = value
			admin.Post(ecr+w.Organization+"/credentials", bad).Want(400)
		}
	})
}

// TestEcrRolesWithoutPrincipal says what is missing.
func TestEcrRolesWithoutPrincipal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, clock *storetest.Clock) {
		w := apitest.Populate(t, apitest.New(t, db, clock, func(c *api.Config) { c.AWSPrincipal = "" }), "")
		got := w.AsPerson("administrator").Post(ecr+w.Organization+"/credentials/prepare-iam-role",
			map[string]any{"awsRegion": "eu-west-1"}).Want(400)
		if !bytes.Contains(got.Body, []byte("aws-principal-arn")) {
			t.Errorf("got %s", got.Body)
		}
	})
}
