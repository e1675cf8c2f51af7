package cloud

import (
	"context"
	"slices"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/iac/terraform"
)

// broken returns the rules that a text breaks, without prefix, with the address.
func broken(t *testing.T, text string) []string {
	t.Helper()
	p, err := terraform.Load(context.Background(), fstest.MapFS{"main.tf": &fstest.MapFile{Data: []byte(text)}},
		[]string{"main.tf"})
	if err != nil {
		t.Fatal(err)
	}
	lib, err := For(p)
	if err != nil {
		t.Fatal(err)
	}
	matches, err := lib.Check(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range matches {
		out = append(out, m.Rule.ID[len(Prefix):]+" "+m.Address)
		if m.Place.Path != "main.tf" || m.Place.StartLine < 1 || m.Message == "" {
			t.Errorf("%s has no place or message: %+v", m.Rule.ID, m)
		}
	}
	return out
}

const (
	bucket = `resource "aws_s3_bucket" "b" { bucket = "data" }
`
	publicPolicy = `resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "${aws_s3_bucket.b.arn}/*" }] })
}
`
	workload = `resource "aws_iam_role" "r" {
  assume_role_policy = data.aws_iam_policy_document.trust.json
}
data "aws_iam_policy_document" "trust" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["lambda.amazonaws.com"]
    }
  }
}
`
	groups = `resource "aws_lb" "l" {
  security_groups = [aws_security_group.front.id]
}
resource "aws_security_group" "front" {
  ingress {
    protocol    = "tcp"
    from_port   = 443
    to_port     = 443
    cidr_blocks = ["0.0.0.0/0"]
  }
}
`
)

// Each rule that follows resources finds its flaw, and is silent about the same
// code without it, or when it is not known.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ rule, bad, good string }{
		{"aws-policy-everything aws_iam_policy.p",
			`resource "aws_iam_policy" "p" { policy = jsonencode({ Statement = { Effect = "Allow", Action = "*", Resource = "*" } }) }`,
			`resource "aws_iam_policy" "p" { policy = jsonencode({ Statement = { Effect = "Allow", Action = "*", Resource = var.arn } }) }
variable "arn" {}`},
		{"aws-policy-escalation aws_iam_role_policy.p",
			`resource "aws_iam_role_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["iam:PassRole"], Resource = ["*"] }] }) }`,
			`resource "aws_iam_role_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Deny", Action = ["iam:PassRole"], Resource = ["*"] }] }) }`},
		{"aws-policy-service-wildcard aws_iam_user_policy.p",
			`resource "aws_iam_user_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["s3:*"], Resource = ["*"] }] }) }`,
			`resource "aws_iam_user_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["s3:*"], Resource = ["arn:aws:s3:::b/*"] }] }) }`},
		{"aws-resource-policy-public aws_sqs_queue_policy.p",
			`resource "aws_sqs_queue_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { AWS = "*" }, Action = "sqs:*" }] }) }`,
			`resource "aws_sqs_queue_policy" "p" { policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { AWS = "*" }, Action = "sqs:*", Condition = { ArnEquals = { "aws:SourceArn" = "x" } } }] }) }`},
		{"aws-role-trust-everybody aws_iam_role.r",
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { AWS = "*" }, Action = "sts:AssumeRole" }] }) }`,
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Deny", Principal = { AWS = "*" }, Action = "sts:AssumeRole" }] }) }`},
		{"aws-role-trust-account aws_iam_role.r",
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:root" }, Action = "sts:AssumeRole" }] }) }`,
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { AWS = "arn:aws:iam::123456789012:role/x" }, Action = "sts:AssumeRole" }] }) }`},
		{"aws-role-oidc-subject aws_iam_role.r",
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { Federated = "arn:aws:iam::1:oidc-provider/token.actions.githubusercontent.com" }, Action = "x" }] }) }`,
			`resource "aws_iam_role" "r" { assume_role_policy = jsonencode({ Statement = [{ Effect = "Allow", Principal = { Federated = "arn:aws:iam::1:oidc-provider/token.actions.githubusercontent.com" }, Action = "x",
  Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = "repo:me/mine:*" } } }] }) }`},
		{"aws-workload-rights aws_iam_role.r",
			workload + `resource "aws_iam_role_policy_attachment" "a" {
  role       = aws_iam_role.r.name
  policy_arn = "arn:aws:iam::aws:policy/AdministratorAccess"
}`,
			workload + `resource "aws_iam_role_policy_attachment" "a" {
  role       = aws_iam_role.r.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
}`},
		{"aws-bucket-policy-public aws_s3_bucket_policy.p", bucket + publicPolicy,
			bucket + publicPolicy + `resource "aws_s3_bucket_public_access_block" "x" {
  bucket                  = aws_s3_bucket.b.id
  restrict_public_buckets = true
}`},
		{"aws-bucket-policy-public aws_s3_bucket_policy.p", bucket + publicPolicy + `resource "aws_s3_bucket_public_access_block" "x" {
  bucket            = aws_s3_bucket.b.id
  block_public_acls = true
}`,
			bucket + publicPolicy + `resource "aws_s3_account_public_access_block" "x" { block_public_policy = true }`},
		{"aws-bucket-acl-public aws_s3_bucket_acl.a",
			bucket + "resource \"aws_s3_bucket_acl\" \"a\" {\n  bucket = \"data\"\n  acl = \"public-read\"\n}",
			bucket + "resource \"aws_s3_bucket_acl\" \"a\" {\n  bucket = \"data\"\n  acl = \"private\"\n}"},
		{"aws-bucket-transport aws_s3_bucket_policy.p", bucket + publicPolicy,
			bucket + `resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({ Statement = [{ Effect = "Deny", Principal = "*", Action = "s3:*", Resource = "*", Condition = { Bool = { "aws:SecureTransport" = "false" } } }] })
}`},
		{"aws-balancer-reach aws_security_group.back",
			groups + `resource "aws_security_group" "back" {
  ingress {
    protocol        = "tcp"
    from_port       = 0
    to_port         = 65535
    security_groups = [aws_security_group.front.id]
  }
}`,
			groups + `resource "aws_security_group" "back" {
  ingress {
    protocol        = "tcp"
    from_port       = 8080
    to_port         = 8080
    security_groups = [aws_security_group.front.id]
  }
}`},
		{"aws-balancer-reach aws_security_group.back",
			groups + `resource "aws_security_group" "back" {}
resource "aws_security_group_rule" "r" {
  type                     = "ingress"
  security_group_id        = aws_security_group.back.id
  source_security_group_id = aws_security_group.front.id
  protocol                 = "tcp"
  from_port                = 22
  to_port                  = 22
}`,
			groups + `resource "aws_security_group" "back" {}`},
		{"secret-in-output output.o",
			"resource \"random_password\" \"p\" { length = 20 }\noutput \"o\" { value = " +
				"\"db:${random_password.p.result}\" }",
			"resource \"random_password\" \"p\" { length = 20 }\noutput \"o\" {\n  value     = " +
				"random_password.p.result\n  sensitive = true\n}"},
		{"secret-in-user-data aws_instance.i",
			"variable \"pw\" { sensitive = true }\nresource \"aws_instance\" \"i\" { user_data = \"export " +
				"PW=${var.pw}\" }",
			"variable \"pw\" {}\nresource \"aws_instance\" \"i\" { user_data = \"export PW=${var.pw}\" }"},
		{"secret-in-environment aws_lambda_function.f",
			"resource \"aws_db_instance\" \"d\" { password = var.p }\nvariable \"p\" {}\nresource " +
				"\"aws_lambda_function\" \"f\" {\n  environment {\n    variables = { PW = aws_db_instance.d.password " +
				"}\n  }\n}",
			"resource \"aws_db_instance\" \"d\" { password = var.p }\nvariable \"p\" {}\nresource " +
				"\"aws_lambda_function\" \"f\" {\n  environment {\n    variables = { HOST = " +
				"aws_db_instance.d.address }\n  }\n}"},
		{"key-in-code aws_instance.i",
			"resource \"aws_instance\" \"i\" { user_data = \"export ID=AKIA" + "QYLPMN5HHHFPZAM2\" }",
			"resource \"aws_instance\" \"i\" { user_data = \"export ID=AKIA\" }"},
		{"aws-group-unused aws_security_group.g",
			`resource "aws_security_group" "g" {}`,
			"resource \"aws_security_group\" \"g\" {}\nresource \"aws_instance\" \"i\" { vpc_security_group_ids = " +
				"[aws_security_group.g.id] }"},
		{"aws-policy-unattached aws_iam_policy.p",
			`resource "aws_iam_policy" "p" {}`,
			"resource \"aws_iam_policy\" \"p\" {}\nresource \"aws_iam_role_policy_attachment\" \"a\" { policy_arn = " +
				"aws_iam_policy.p.arn }"},
	} {
		if got := broken(t, c.bad); !slices.Contains(got, c.rule) {
			t.Errorf("%s is not found in\n%s\nonly %v", c.rule, c.bad, got)
		}
		if got := broken(t, c.good); slices.Contains(got, c.rule) {
			t.Errorf("%s is found in\n%s", c.rule, c.good)
		}
	}
}

// A rule is satisfied by another resource that names the one under check.
func TestRelated(t *testing.T) {
	const vpc = "resource \"aws_vpc\" \"v\" {}\n"
	for text, want := range map[string]bool{
		vpc: true,
		vpc + `resource "aws_flow_log" "f" { vpc_id = aws_vpc.v.id }`: false,
		vpc + "locals {\n  id = aws_vpc.v.id\n}\nresource \"aws_flow_log\" \"f\" { vpc_id = " +
			"local.id }": false,
		// not known
		vpc + "variable \"id\" { type = any }\nresource \"aws_flow_log\" \"f\" { vpc_id = var.id.x }": false,
		vpc + "resource \"aws_vpc\" \"other\" {}\nresource \"aws_flow_log\" \"f\" { vpc_id = " +
			"aws_vpc.other.id }": true,
		"resource \"aws_vpc\" \"v\" { for_each = toset([\"a\"]) }\nresource \"aws_flow_log\" \"f\" { vpc_id = " +
			"aws_vpc.v[\"a\"].id }": false,
	} {
		found := slices.ContainsFunc(broken(t, text), func(s string) bool {
			return s == "aws-logging-vpc aws_vpc.v" || s == `aws-logging-vpc aws_vpc.v["a"]`
		})
		if found != want {
			t.Errorf("found %v, want %v:\n%s", found, want, text)
		}
	}
}

// What a variable gives stands not in the code.
func TestProviderCredentials(t *testing.T) {
	text := `provider "aws" { secret_key = "abcdefabcdef" }`
	if got := broken(t, text); len(got) != 1 {
		t.Errorf("%v, want the credential of the provider", got)
	}
	if got := broken(t, "variable \"k\" {}\nprovider \"aws\" { secret_key = var.k }"); len(got) != 0 {
		t.Errorf("%v for a credential that a variable gives", got)
	}
}

// A setting of the account speaks for each bucket.
func TestAccountBlock(t *testing.T) {
	const rule = "aws-bucket-block aws_s3_bucket.b"
	if got := broken(t, bucket); !slices.Contains(got, rule) {
		t.Errorf("%v, want %s", got, rule)
	}
	for _, more := range []string{
		"resource \"aws_s3_account_public_access_block\" \"a\" {}",
		"resource \"aws_s3_bucket_public_access_block\" \"a\" { bucket = aws_s3_bucket.b.bucket }",
	} {
		if got := broken(t, bucket+more); slices.Contains(got, rule) {
			t.Errorf("%s in spite of %s", rule, more)
		}
	}
}
