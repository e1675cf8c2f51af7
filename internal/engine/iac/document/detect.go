package document

import (
	"path"
	"slices"
	"strings"

	"merlon/internal/lazyregexp"
)

// Detect says what a decoded YAML or JSON tree describes, by its content; the path
// helps only where the content is the same for several things. It is nil when the
// tree is not infrastructure code. A Knative service is a Kubernetes manifest as
// well, so there may be more than one answer.
func Detect(name string, root map[string]any) []Platform {
	switch {
	case isOpenAPI(root):
		return []Platform{OpenAPI}
	case hasKeys(root, "apiVersion", "kind"):
		return manifestPlatforms(textField(root, "apiVersion"))
	case isCloudFormation(root):
		return []Platform{CloudFormation}
	case isARM(root):
		return []Platform{ARM}
	case isPlan(root) || isStack(root):
		return []Platform{Terraform}
	case isPulumi(root):
		return []Platform{Pulumi}
	case isServerless(root):
		return []Platform{ServerlessFrame}
	case isWorkflow(root):
		return []Platform{CICD}
	case isCompose(name, root):
		return []Platform{Compose}
	case isGoogleDeploy(root):
		return []Platform{GoogleDeploy}
	case isAnsible(name, root):
		return []Platform{Ansible}
	}
	return nil
}

// manifestPlatforms returns what the API group of a Kubernetes object says of its
// platform.
func manifestPlatforms(version string) []Platform {
	group, _, _ := strings.Cut(version, "/")
	switch {
	case strings.HasSuffix(group, "crossplane.io"), strings.HasSuffix(group, ".upbound.io"):
		return []Platform{Crossplane}
	case strings.HasSuffix(group, "knative.dev"):
		return []Platform{Knative, Kubernetes}
	}
	return []Platform{Kubernetes}
}

// isOpenAPI reports whether the value describes an API, of either version.
func isOpenAPI(root map[string]any) bool {
	return (hasKeys(root, "openapi") || hasKeys(root, "swagger")) &&
		(hasKeys(root, "info") || hasKeys(root, "paths") || hasKeys(root, "components") || hasKeys(root, "webhooks"))
}

// isCloudFormation wants a resource whose type has the form of CloudFormation's:
// "AWS::S3::Bucket", "Custom::Thing".
func isCloudFormation(root map[string]any) bool {
	if hasKeys(root, "AWSTemplateFormatVersion") {
		return true
	}
	resources, _ := root["Resources"].(map[string]any)
	for _, r := range resources {
		if one, ok := r.(map[string]any); ok && strings.Contains(textField(one, "Type"), "::") {
			return true
		}
	}
	return false
}

// isARM knows templates by their schema or version, and the artifacts of
// blueprints, which have neither, by their kind.
func isARM(root map[string]any) bool {
	schema := strings.ToLower(textField(root, "$schema"))
	if strings.Contains(schema, "deploymenttemplate") || strings.Contains(schema, "deploymentparameters") ||
		hasKeys(root, "contentVersion", "resources") {
		return true
	}
	if !hasKeys(root, "properties") {
		return false
	}
	switch textField(root, "kind") {
	case "policyAssignment", "roleAssignment", "template":
		return true
	}
	properties, _ := root["properties"].(map[string]any)
	return hasKeys(properties, "targetScope")
}

// isPlan knows what "terraform show -json" prints of a plan.
func isPlan(root map[string]any) bool {
	return hasKeys(root, "planned_values", "terraform_version")
}

// isStack knows Terraform's JSON syntax as development kits write it, whatever the
// file is called.
func isStack(root map[string]any) bool {
	_, ok := root["resource"].(map[string]any)
	return ok && (hasKeys(root, "terraform") || hasKeys(root, "provider"))
}

// isPulumi reports whether the value is a program of Pulumi in YAML.
func isPulumi(root map[string]any) bool {
	return hasKeys(root, "name", "runtime") && (hasKeys(root, "resources") || textField(root, "runtime") == "yaml")
}

// isServerless reports whether the value is a service of the Serverless Framework.
func isServerless(root map[string]any) bool {
	provider, ok := root["provider"].(map[string]any)
	return hasKeys(root, "service") && (ok && (hasKeys(provider, "name") || hasKeys(provider, "runtime")) ||
		hasKeys(root, "functions", "provider"))
}

// isWorkflow reports whether the value is a workflow of GitHub.
func isWorkflow(root map[string]any) bool {
	_, jobs := root["jobs"].(map[string]any)
	return jobs && hasKeys(root, "on")
}

// isCompose wants a service with an image or a build. A file that is called so may hold
// parts of services alone, or what it includes.
func isCompose(name string, root map[string]any) bool {
	services, _ := root["services"].(map[string]any)
	if ComposeName(name) {
		_, includes := root["include"].([]any)
		return includes || len(services) > 0
	}
	for _, s := range services {
		if one, ok := s.(map[string]any); ok && (hasKeys(one, "image") || hasKeys(one, "build")) {
			return true
		}
	}
	return false
}

// composeName matches names that only files of Compose have.
var composeName = lazyregexp.New(`(?i)^(docker-)?compose([._-].*)?\.ya?ml$`)

// ComposeName reports whether a file is called as Compose files are.
func ComposeName(name string) bool { return composeName.MatchString(path.Base(name)) }

// isGoogleDeploy wants resources with a name and a type that is one of the
// manager's: "compute.v1.instance", "gcp-types/…", a template.
func isGoogleDeploy(root map[string]any) bool {
	list, _ := root["resources"].([]any)
	for _, r := range list {
		one, _ := r.(map[string]any)
		if kind := textField(one, "type"); hasKeys(one, "name") && strings.ContainsAny(kind, "./") {
			return true
		}
	}
	return false
}

// These keys stand in plays and tasks and hardly anywhere else in a list.
var ansibleWords = []string{
	"hosts", "tasks", "gather_facts", "become", "become_user", "become_method", "become_pass", "become_exe",
	"become_flags",
	"with_items", "with_dict", "when", "register", "notify", "import_playbook", "import_tasks", "include_tasks",
	"delegate_to", "pre_tasks", "post_tasks", "handlers", "ignore_errors", "changed_when",
}

// isPlayOrTask reports whether an entry of a list has a word that only plays and tasks have, or
// a name and a module.
func isPlayOrTask(v any) bool {
	one, ok := v.(map[string]any)
	return ok && (slices.ContainsFunc(ansibleWords, func(word string) bool { return hasKeys(one, word) }) ||
		hasKeys(one, "name") && hasModule(one))
}

// isAnsible knows playbooks and task lists, and inventories in YAML.
func isAnsible(name string, root map[string]any) bool {
	list, _ := root[Playbooks].([]any)
	if slices.ContainsFunc(list, isPlayOrTask) {
		return true
	}
	for _, group := range []string{"all", "ungrouped"} {
		one, _ := root[group].(map[string]any)
		if hasKeys(one, "hosts") || hasKeys(one, "children") {
			return true
		}
	}
	dir := path.Base(path.Dir(name))
	if dir == "tasks" || dir == "handlers" {
		one, ok := firstItem(list).(map[string]any)
		return ok && hasKeys(one, "name")
	}
	return dir == "group_vars" || dir == "host_vars"
}

// firstItem returns the first item, or nil.
func firstItem(list []any) any {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// hasModule reports whether a task calls a module: a key with arguments that is a
// full name ("amazon.aws.s3_bucket") or has the form of an older one ("ec2_group").
func hasModule(task map[string]any) bool {
	for key, value := range task {
		switch value.(type) {
		case map[string]any, string:
			if strings.Count(key, ".") >= 2 || strings.Contains(key, "_") && !strings.HasPrefix(key, "_") {
				return true
			}
		}
	}
	return false
}

// hasKeys reports whether the map has all of the keys.
func hasKeys(m map[string]any, keys ...string) bool {
	for _, key := range keys {
		if _, ok := m[key]; !ok {
			return false
		}
	}
	return len(keys) > 0
}

// textField returns a field that is a text.
func textField(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
