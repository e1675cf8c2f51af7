package cloud

import "testing"

// Every rule is fit to be shown, and there are as many as we say.
func TestRules(t *testing.T) {
	list, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 900 {
		t.Errorf("%d rules, want more than 900", len(list))
	}
	for _, r := range list {
		if r.Severity.Rank() == 0 || r.Name == "" || r.Description == "" || r.HowToPrevent == "" || len(r.CWE) == 0 {
			t.Errorf("rule %s is not whole: %+v", r.ID, r)
		}
	}
}

func TestBenchmark(t *testing.T) {
	for text, want := range map[string]string{
		"CIS AWS Foundations 3.7": "CIS Amazon Web Services Foundations Benchmark 3.0.0, section 3.7",
		"CIS Google Cloud 6.2.8":  "CIS Google Cloud Platform Foundation Benchmark 2.0.0, section 6.2.8",
		"Some Benchmark 1.1":      "Some Benchmark 1.1",
		"":                        "",
	} {
		if got := fullBenchmark(text); got != want {
			t.Errorf("whole(%q) = %q, want %q", text, got, want)
		}
	}
	_, err := kind{CIS: "Some Benchmark 1.1", Types: []string{"aws_x"},
		Must: []string{"a"}}.newCheck(&group{ID: "x", Title: "x", Severity: "low", CWE: "CWE-1", Why: "w", Fix: "f"})
	if err == nil {
		t.Error("a benchmark without a version was taken")
	}
}

func TestShort(t *testing.T) {
	for kind, want := range map[string]string{
		"aws_s3_bucket": "s3-bucket", "AWS::EC2::Volume": "ec2-volume", "Microsoft.Sql/servers": "sql-servers",
	} {
		if got := shortType(kind); got != want {
			t.Errorf("short(%s) = %s, want %s", kind, got, want)
		}
	}
}
