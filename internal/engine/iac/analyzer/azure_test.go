package analyzer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each turn of a loop is asked about, told once; what is not deployed is silent, and what
// nobody knows is a reason.
func TestAzureLoops(t *testing.T) {
	found, reasons := scanned(t, map[string]string{"store.json": `{
  "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
  "contentVersion": "1.0.0.0",
  "parameters": {
    "stores": {"type": "array", "defaultValue": [{"name": "one", "https": true}, {"name": "two", "https": false}, {"name": "three", "https": false}]},
    "tls": {"type": "string"},
    "old": {"type": "bool", "defaultValue": false}
  },
  "resources": [
    {
      "type": "Microsoft.Storage/storageAccounts", "apiVersion": "2021-02-01",
      "name": "[parameters('stores')[copyIndex()].name]",
      "copy": {"name": "stores", "count": "[length(parameters('stores'))]"},
      "properties": {
        "supportsHttpsTrafficOnly": "[parameters('stores')[copyIndex()].https]"
      }
    },
    {
      "type": "Microsoft.Storage/storageAccounts", "apiVersion": "2021-02-01", "name": "old", "condition": "[parameters('old')]",
      "properties": {
        "supportsHttpsTrafficOnly": false
      }
    },
    {
      "type": "Microsoft.Web/sites", "apiVersion": "2020-12-01", "name": "asked", "location": "westeurope", "kind": "app",
      "properties": {
        "siteConfig": {"minTlsVersion": "[parameters('tls')]"}
      }
    }
  ]
}
`})
	const rule = " storage-account-allows-unsecure-transfer"
	var got []string
	for _, f := range found {
		if slices.Contains([]string{"store.json:15" + rule, "store.json:21" + rule}, f) {
			got = append(got, f)
		}
	}
	if diff := cmp.Diff([]string{"store.json:15" + rule}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"store.json:27 unknown-value: the value is unknown before deployment, and a rule depends on it: Web app " +
			"not using TLS last version",
	}, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
