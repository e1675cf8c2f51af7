package cloud

import (
	"regexp"
	"strings"

	"merlon/internal/engine/iac/terraform"
)

// This file holds the rules about secrets: where they flow, and where they stand.

// secretOutput reports outputs of the root module that print a secret: Terraform shows an output in
// the log of each run unless it is marked as sensitive (CWE-532).
func secretOutput(g *graph, report func(Match)) {
	for _, m := range g.project.Modules {
		if m.Address != "" {
			continue // an output of a module goes to its caller
		}
		for _, o := range m.Outputs {
			if o.Value != nil && o.Value.Sensitive && !o.Sensitive {
				report(Match{Module: m, Address: "output." + o.Name, Place: o.Value.Place, Message: "output." + o.Name +
					": The value holds a secret and is not marked as sensitive."})
			}
		}
	}
}

// startScripts lists the arguments that hold the start scripts of machines.
var startScripts = map[string][]string{
	"aws_instance": {"user_data", "user_data_base64"}, "aws_launch_configuration": {"user_data", "user_data_base64"},
	"aws_launch_template":       {"user_data"},
	"aws_spot_instance_request": {"user_data"}, "azurerm_linux_virtual_machine": {"custom_data", "user_data"},
	"azurerm_windows_virtual_machine":  {"custom_data", "user_data"},
	"google_compute_instance":          {"metadata_startup_script", "metadata"},
	"google_compute_instance_template": {"metadata_startup_script", "metadata"},
	"digitalocean_droplet":             {"user_data"}, "openstack_compute_instance_v2": {"user_data"},
	"alicloud_instance": {"user_data"}, "tencentcloud_instance": {"user_data", "user_data_raw"},
	"oci_core_instance": {"metadata"}, "linode_instance": {"stackscript_data"}, "yandex_compute_instance": {"metadata"},
}

// secretUserData reports secrets in start scripts of machines. Every process on the machine can
// read them from the metadata service, and so can an SSRF.
func secretUserData(g *graph, report func(Match)) {
	g.eachArgument(startScripts, func(r *terraform.Resource, a *terraform.Attribute) {
		if a.Sensitive {
			report(Match{Resource: r, Place: a.Place, Message: r.Address + ": A secret flows into " + a.Name + "."})
		}
	})
}

// environments lists where workloads get their environment.
var environments = map[string][]string{
	"aws_lambda_function": {"environment.variables"}, "aws_ecs_task_definition": {"container_definitions"},
	"aws_codebuild_project":           {"environment.environment_variable.value"},
	"google_cloudfunctions_function":  {"environment_variables"},
	"google_cloudfunctions2_function": {"service_config.environment_variables"},
	"google_cloud_run_service":        {"template.spec.containers.env.value"},
	"azurerm_linux_function_app":      {"app_settings"},
	"azurerm_linux_web_app":           {"app_settings"},
	"azurerm_container_group":         {"container.environment_variables"},
	"aws_apprunner_service":           {"source_configuration.image_repository.image_configuration.runtime_environment_variables"},
	"kubernetes_deployment":           {"spec.template.spec.container.env.value"},
	"kubernetes_pod":                  {"spec.container.env.value"},
	"aws_batch_job_definition":        {"container_properties"},
}

// secretEnvironment reports secrets in the environment of workloads: they are shown in the console
// and returned by the API to everybody with read access.
func secretEnvironment(g *graph, report func(Match)) {
	g.eachArgument(environments, func(r *terraform.Resource, a *terraform.Attribute) {
		if a.Sensitive {
			report(Match{Resource: r, Place: a.Place, Message: r.Address + ": A secret flows into the " +
				"environment (" + a.Name + ")."})
		}
	})
}

// eachArgument calls the function with the arguments that exist.
func (g *graph) eachArgument(paths map[string][]string, f func(*terraform.Resource, *terraform.Attribute)) {
	for kind, list := range paths {
		for _, r := range g.types[kind] {
			for _, path := range list {
				for _, h := range r.Body.Lookup(path) {
					// A path may lead to a block or to nothing: only written arguments are passed
					// on.
					if h.Attr != nil && h.Value != nil {
						f(r, h.Attr)
					}
				}
			}
		}
	}
}

// credential knows access keys of clouds by their form; the second part stands for
// a secret key, which is known by its name and length only.
var credential = regexp.MustCompile(`(?:\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)|(?i:aws_?secret(?:_?access)?_?key["']?\s*[:=]\s*["']?[0-9A-Za-z/+]{40})|\bAIza[0-9A-Za-z_-]{35}\b|-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----`)

// keyInCode reports access keys that are written out in start scripts and environments (CWE-798).
// Keys elsewhere in the file are left to the analyzer for secrets.
func keyInCode(g *graph, report func(Match)) {
	find := func(r *terraform.Resource, a *terraform.Attribute) {
		if hasCredential(a.Value) {
			report(Match{Resource: r, Place: a.Place, Message: r.Address + ": A credential stands in " + a.Name + "."})
		}
	}
	g.eachArgument(startScripts, find)
	g.eachArgument(environments, find)
}

// hasCredential reports whether a text of the value, or a member by its name, is a
// credential.
func hasCredential(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) <= maxPolicy && credential.MatchString(v)
	case []any:
		for _, e := range v {
			if hasCredential(e) {
				return true
			}
		}
	case map[string]any:
		for name, e := range v {
			text, _ := e.(string)
			if hasCredential(e) || strings.Contains(strings.ToLower(name), "secret") && len(text) == 40 &&
				credential.MatchString("aws_secret_key="+text) {
				return true
			}
		}
	}
	return false
}
