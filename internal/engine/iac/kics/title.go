package kics

import (
	"regexp"
	"strings"
)

// titleWord matches a word that is written with a capital only because it stands in a
// title. Words with further capitals or digits are names and acronyms.
var titleWord = regexp.MustCompile(`^[A-Z][a-z]+(?:-[A-Z]?[a-z]+)*$`)

// properNouns are the names among such words.
var properNouns = map[string]bool{
	"Amazon": true, "Ansible": true, "Athena": true, "Aurora": true, "Azure": true, "Cloudtrail": true, "Cognito": true,
	"Databricks": true, "Docker": true, "Elasticsearch": true, "Git": true, "Glue": true, "Google": true, "Helm": true,
	"Kinesis": true, "Kms": true, "Knative": true, "Kubernetes": true, "Lambda": true, "Linux": true, "Microsoft": true,
	"Neptune": true, "Oauth": true, "Python": true, "Redis": true, "Redshift": true, "Spark": true, "Synapse": true,
	"Terraform": true, "Terway": true, "Tiller": true, "Windows": true,
}

// productNames are names of several words.
var productNames = []string{
	"API Gateway", "Activity Log", "Ansible Tower", "App Service", "Auto Scaling", "Cloud Armor", "Cloud DNS",
	"Cloud SQL", "Cloud Storage",
	"Cognitive Search", "Cosmos DB", "Data Factory", "Event Hub", "Front Door", "Function App", "Global Accelerator",
	"Key Vault", "Network Watcher",
	"Secret Manager", "Secrets Manager", "Security Center", "Service Bus", "Systems Manager", "Transit Gateway",
}

// sentenceCase writes a title of the library as our own titles are written: with a
// capital at the beginning and in names alone.
func sentenceCase(title string) string {
	words := strings.Split(title, " ")
	quoted := false
	for i, w := range words {
		inside := quoted || strings.HasPrefix(w, "'")
		if strings.Count(w, "'")%2 == 1 {
			quoted = !quoted
		}
		bare := strings.Trim(w, `()",.:;`)
		if i > 0 && !inside && titleWord.MatchString(bare) && !properNouns[bare] {
			words[i] = strings.ToLower(w)
		}
	}
	out := strings.Join(words, " ")
	for _, name := range productNames {
		for at := 0; ; {
			k := strings.Index(title[at:], name)
			if k < 0 {
				break
			}
			at += k
			out = out[:at] + name + out[at+len(name):]
			at += len(name)
		}
	}
	return out
}
