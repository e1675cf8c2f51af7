package kics

import "testing"

func TestSentenceCase(t *testing.T) {
	for title, want := range map[string]string{
		"S3 Bucket With Unsecured CORS Rule":              "S3 bucket with unsecured CORS rule",
		"PostgreSQL log_checkpoints Flag Not Set To ON":   "PostgreSQL log_checkpoints flag not set to ON",
		"Operation Object Parameters With 'Body' Type":    "Operation object parameters with 'Body' type",
		"API Gateway Endpoint Config is Not Private":      "API Gateway endpoint config is not private",
		"Small Key Vault (Azure) Retention":               "Small Key Vault (Azure) retention",
		"Root Container Not Mounted Read-Only":            "Root container not mounted read-only",
		"Lambda Functions Without X-Ray Tracing":          "Lambda functions without X-Ray tracing",
		"User With Policy 'Admin Access' Allows Anything": "User with policy 'Admin Access' allows anything",
		"": "",
	} {
		if got := sentenceCase(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
