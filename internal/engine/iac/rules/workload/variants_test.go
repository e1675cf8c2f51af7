package workload

import (
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/document"
)

// This file gives the rules more forms of what they look for, and of what only looks like it.

// TestPods finds the containers of all kinds of workloads.
func TestPods(t *testing.T) {
	const containers = "{containers: [{name: a, securityContext: {procMount: Unmasked}}]}"
	for _, text := range []string{
		"kind: Pod\nspec: " + containers,
		"kind: Deployment\nspec: {template: {spec: " + containers + "}}",
		"kind: DaemonSet\nspec: {template: {spec: " + containers + "}}",
		"kind: StatefulSet\nspec: {template: {spec: " + containers + "}}",
		"kind: ReplicaSet\nspec: {template: {spec: " + containers + "}}",
		"kind: Job\nspec: {template: {spec: " + containers + "}}",
		"kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: " + containers + "}}}}",
		"kind: Pod\nspec: {initContainers: [{name: a, securityContext: {procMount: Unmasked}}]}",
	} {
		if got := found(t, document.Kubernetes, text); !slices.Contains(got, "unmasked-proc-mount:2") {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{
		"kind: Service\nspec: " + containers, "kind: Pod\nspec: []", "kind: Pod\nspec: {containers: {name: a}}",
		"kind: Pod\nspec: {containers: [5, null, []]}", "kind: Deployment\nspec: " + containers,
	} {
		if got := found(t, document.Kubernetes, text); slices.Contains(got, "unmasked-proc-mount:2") {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestRoles tells what a rule of a role lets its holder take over.
func TestRoles(t *testing.T) {
	const id = "role-allows-taking-over:2"
	for rule, want := range map[string]bool{
		"{verbs: [escalate], resources: [clusterroles]}":                      true,
		"{verbs: [bind], resources: ['*']}":                                   true,
		"{verbs: [update], resources: [certificatesigningrequests/approval]}": true,
		"{verbs: [patch], resources: [mutatingwebhookconfigurations]}":        true,
		"{verbs: [create], resources: [validatingwebhookconfigurations]}":     true,
		"{verbs: [create], resources: [nodes/proxy]}":                         true,
		"{verbs: [patch], resources: [pods/ephemeralcontainers]}":             true,
		"{verbs: [create], resources: [rolebindings]}":                        true,
		"{verbs: ['*'], resources: [clusterrolebindings]}":                    true,
		"{verbs: ['*'], resources: [serviceaccounts/token]}":                  true,
		"{verbs: [get, list], resources: [rolebindings]}":                     false,
		"{verbs: [get], resources: [certificatesigningrequests/approval]}":    false,
		"{verbs: [create], resources: [certificatesigningrequests/approval]}": false,
		"{verbs: [list], resources: [mutatingwebhookconfigurations]}":         false,
		"{verbs: [list], resources: [nodes/proxy]}":                           false,
		"{verbs: [get], resources: [pods/ephemeralcontainers]}":               false,
		"{verbs: [create], resources: [rolebindings], resourceNames: [a]}":    false,
		"{verbs: [create], resources: [pods]}":                                false,
		"{verbs: create, resources: {a: b}}":                                  false,
		"{}":                                                                  false,
	} {
		for _, kind := range []string{"Role", "ClusterRole"} {
			got := found(t, document.Kubernetes, "kind: "+kind+"\nrules: ["+rule+"]\n")
			if slices.Contains(got, id) != want {
				t.Errorf("%s %s: %v, want found: %v", kind, rule, got, want)
			}
		}
		if got := found(t, document.Kubernetes, "kind: Other\nrules: ["+rule+"]\n"); slices.Contains(got, id) {
			t.Errorf("%s of another kind: %v", rule, got)
		}
	}
}

// TestSecretNames tells values that are secrets from those that stand for one.
func TestSecretNames(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"DB_PASSWORD", "hunter22", true}, {"password", "hunter22", true}, {"api-key", "9f8e7d6c", true},
		{"AWS_SECRET_ACCESS_KEY", "abcdefgh", true}, {"app.secret", "s3cr3t-value", true}, {"PGPASSWORD", "abcd", true},
		{"GITHUB_TOKEN", "ghp_x1y2", true}, {"private_key", "abcdefgh", true},
		{"DB_PASSWORD", "abc", false}, {"DB_PASSWORD", "", false}, {"DB_PASSWORD", "changeme", false},
		{"DB_PASSWORD", "change-me", false}, {"DB_PASSWORD", "your-password", false}, {"DB_PASSWORD", "true", false},
		{"DB_PASSWORD", "${PASSWORD}", false}, {"DB_PASSWORD", "<password>", false}, {"DB_PASSWORD", "{{ x }}", false},
		{"DB_PASSWORD", "%PASSWORD%", false}, {"DB_PASSWORD", "/run/secrets/db", false},
		{"DB_PASSWORD", "./file", false},
		{"DB_PASSWORD", "vault://a/b", false}, {"DB_PASSWORD", "file:x", false}, {"DB_PASSWORD", "secret:a", false},
		{"DB_PASSWORD", "xxxxxxxx", false}, {"DB_PASSWORD", "****", false}, {"DB_PASSWORD", "the_DB_PASSWORD", false},
		{"PASSWORD_FILE", "hunter22", false}, {"TOKEN_URL", "hunter22", false}, {"SECRET_NAME", "hunter22", false},
		{"monkey", "hunter22", false}, {"KEY", "hunter22", false}, {"tokenize", "hunter22", false},
	} {
		if got := isSecret(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: %v", c.name, c.value, got)
		}
	}
}

// TestCommands finds what the commands of a RUN do, written in other ways.
func TestCommands(t *testing.T) {
	for command, want := range map[string]string{
		"wget -qO- https://x.example/i | bash":                      "remote-script-run",
		"curl https://x.example/i | sudo bash -s -- -y":             "remote-script-run",
		"curl https://x.example/i | /bin/sh":                        "remote-script-run",
		"curl https://x.example/i | env A=b sh":                     "remote-script-run",
		"sh -c \"$(curl -fsSL https://x.example/i)\"":               "remote-script-run",
		"bash -c \"$(wget -O- https://x.example/i)\"":               "remote-script-run",
		"curl --insecure https://x.example/a -o a":                  "certificate-check-disabled",
		"wget --no-check-certificate https://x.example/a":           "certificate-check-disabled",
		"pip install --trusted-host x.example a":                    "certificate-check-disabled",
		"apt-get install --allow-unauthenticated a":                 "certificate-check-disabled",
		"yum install --nogpgcheck a":                                "certificate-check-disabled",
		"apk add --allow-untrusted a.apk":                           "certificate-check-disabled",
		"git config --global http.sslVerify false":                  "certificate-check-disabled",
		"export NODE_TLS_REJECT_UNAUTHORIZED=0":                     "certificate-check-disabled",
		"GIT_SSL_NO_VERIFY=true git clone https://x.example/a":      "certificate-check-disabled",
		"echo root:toor | sudo chpasswd":                            "password-set-in-build",
		"useradd -m -p secret1 app":                                 "password-set-in-build",
		"usermod --password=abc root":                               "password-set-in-build",
		"chmod 0777 /x":                                             "world-writable-files",
		"chmod -R a+rwx /x":                                         "world-writable-files",
		"apt full-upgrade -y":                                       "distribution-upgraded",
		"zypper -n dup":                                             "distribution-upgraded",
		"do-release-upgrade":                                        "distribution-upgraded",
		"curl https://x.example/a | tar x":                          "",
		"curl https://x.example/a.sh -o a.sh; sha256sum -c a; sh a": "",
		"chmod 755 /x && chmod u+rwx /y":                            "",
		"useradd -m app":                                            "",
		"apt-get upgrade -y":                                        "",
		"curl -s https://x.example/key":                             "",
	} {
		got := found(t, document.Dockerfile, "FROM a\nRUN "+command+"\n")
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want+":2") {
			t.Errorf("%s: %v, want %q", command, got, want)
		}
	}
}

// TestCopies tells files of secrets from those that are named like one.
func TestCopies(t *testing.T) {
	for source, want := range map[string]bool{
		".env": true, "a/.netrc": true, ".npmrc": true, ".ssh": true, ".ssh/": true, "keys/id_ed25519": true,
		"server.pem": true, "a.p12": true, "x.jks": true, ".aws/credentials": true, "credentials.json": true,
		".pgpass": true, "id_rsa.pub": false, ".env.sample": false, "pem": false, "environment": false, "aws": false,
	} {
		for _, cmd := range []string{"COPY", "ADD"} {
			got := found(t, document.Dockerfile, "FROM a\n"+cmd+" "+source+" /x\n")
			if slices.Contains(got, "secret-file-copied:2") != want {
				t.Errorf("%s %s: %v, want found: %v", cmd, source, got, want)
			}
		}
	}
}

// TestBuilds finds flaws in instructions that a stage of another build runs, and in all stages.
func TestBuilds(t *testing.T) {
	for text, want := range map[string]string{
		"FROM a\nONBUILD RUN chmod 777 /x\n":                   "world-writable-files:2",
		"FROM a AS b\nRUN chmod 777 /x\nFROM c\n":              "world-writable-files:2",
		"ARG API_KEY=9f8e7d6c\nFROM a\n":                       "secret-in-build:1",
		"FROM a\nENV API_KEY 9f8e7d6c\n":                       "secret-in-build:2",
		"FROM a\nRUN --security=insecure x\n":                  "insecure-build-mode:2",
		"FROM a\nADD a http://x.example/b /c\n":                "remote-add-without-checksum:2",
		"FROM a\nHEALTHCHECK NONE\nRUN x\nHEALTHCHECK CMD y\n": "multiple-healthchecks:4",
	} {
		if got := found(t, document.Dockerfile, text); !slices.Contains(got, want) {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

// TestTemplates is silent where a value of a template is only known when the stack is made.
func TestTemplates(t *testing.T) {
	const head = "Resources:\n  R:\n    Type: AWS::"
	for text, want := range map[string]string{
		"EKS::Cluster\n    Properties: {Logging: !Ref L, ResourcesVpcConfig: {EndpointPublicAccess: false}}": "",
		"EKS::Cluster\n    Properties: {Logging: {ClusterLogging: {EnabledTypes: {Ref: T}}}, " +
			"ResourcesVpcConfig: {EndpointPublicAccess: !Ref P}}": "",
		"EKS::Cluster\n    Properties: {Logging: {ClusterLogging: {EnabledTypes: [{Type: api}]}}}": "" +
			"eks-control-plane-logging-disabled:4",
		"EKS::Cluster\n    Properties: {ResourcesVpcConfig: {PublicAccessCidrs: " +
			"['0.0.0.0/0']}}": "eks-endpoint-public:4",
		"EKS::Cluster\n    Properties: {ResourcesVpcConfig: {PublicAccessCidrs: !Ref C}, Logging: !Ref L}": "",
		"S3::Bucket\n    Properties: {BucketEncryption: !Ref E}":                                           "",
		"S3::Bucket\n    Properties: {BucketEncryption: {ServerSideEncryptionConfiguration: " +
			"[{ServerSideEncryptionByDefault: {SSEAlgorithm: AES256}}]}}": "s3-bucket-without-customer-key:4",
		"RDS::DBInstance\n    Properties: {EnablePerformanceInsights: 'true'}": "",
		"RDS::DBInstance\n    Properties: {Engine: x}":                         "rds-performance-insights-disabled:4",
		"IAM::User\n    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Allow, Action: '*', " +
			"Resource: '*'}]}}]}": "iam-policy-allows-all-of-s3:4",
		"IAM::ManagedPolicy\n    Properties: {PolicyDocument: {Statement: [{Effect: Allow, Action: ['s3:Get*'], " +
			"Resource: '*'}]}}": "",
		"EC2::Instance\n    Properties: {BlockDeviceMappings: [{Ebs: {Encrypted: !Ref E}}]}": "",
		"EC2::Instance\n    Properties: {BlockDeviceMappings: [{Ebs: {Encrypted: " +
			"false}}]}": "ec2-block-device-unencrypted:4",
		"SNS::Topic\n    Properties: {}": "",
	} {
		got := found(t, document.CloudFormation, head+text+"\n")
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %q", text, got, want)
		}
	}
	if got := found(t, document.CloudFormation, "Resources: [a]\n"); len(got) > 0 {
		t.Errorf("resources that are no map: %v", got)
	}
}

// TestNetworks tells rules for everybody from those with exceptions or names.
func TestNetworks(t *testing.T) {
	for text, want := range map[string]string{
		"kind: NetworkPolicy\nspec: {ingress: [{from: [{ipBlock: {cidr: " +
			"'::/0'}}]}]}": "network-policy-allows-all:2",
		"kind: NetworkPolicy\nspec: {ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]}": "",
		"kind: NetworkPolicy\nspec: {ingress: [{from: [{podSelector: {}}]}]}":                                  "",
		"kind: NetworkPolicy\nspec: {egress: [{}]}":                                                            "",
		"apiVersion: extensions/v1beta1\nkind: Ingress\nspec: {rules: " +
			"[{host: a}]}": "ingress-without-tls:3",
		"apiVersion: x.example/v1\nkind: Ingress\nspec: {rules: [{host: a}]}": "",
		"kind: Namespace\nmetadata: {labels: {pod-security.kubernetes.io/enforce: " +
			"privileged}}": "namespace-without-pod-security:2",
		"kind: Namespace\nmetadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}": "",
		"kind: RoleBinding\nroleRef: {name: edit}\nsubjects: [{name: " +
			"'system:authenticated'}]": "anonymous-role-binding:3",
		"kind: RoleBinding\nroleRef: {name: edit}\nsubjects: [{name: admins}]": "",
		"kind: Service\nspec: {type: LoadBalancer}":                            "",
	} {
		got := found(t, document.Kubernetes, text+"\n")
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %q", strings.ReplaceAll(text, "\n", "; "), got, want)
		}
	}
}
