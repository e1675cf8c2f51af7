package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"merlon/internal/engine/iac/dockerfile"
	"merlon/internal/engine/iac/document"
	"merlon/internal/engine/iac/kics"
)

// found returns "rule:line" of what our rules find in the text.
func found(t *testing.T, platform document.Platform, text string) []string {
	t.Helper()
	var docs []*document.Document
	if platform == document.Dockerfile {
		d, err := dockerfileDecode(text)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, d)
	} else {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, tree := range trees {
			docs = append(docs, &document.Document{Platform: platform, Path: "x", Root: tree.Root, Lines: tree.Lines})
		}
	}
	var out []string
	for _, f := range Run(docs) {
		if f.Actual == "" || f.Expected == "" && f.Fragment == "" || f.Path == "" || f.Key == "" {
			t.Errorf("%s says too little: %+v", f.Rule.ID, f)
		}
		out = append(out, short(f))
	}
	return out
}

func short(f kics.Flaw) string {
	return fmt.Sprintf("%s:%d", f.Rule.ID[strings.LastIndexByte(f.Rule.ID, '/')+1:], f.Line)
}

func dockerfileDecode(text string) (*document.Document, error) {
	return dockerfile.Decode("Dockerfile", []byte(text))
}

const (
	podHead = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
	job     = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec: {jobTemplate: {spec: {template: " +
		"{spec: {\n"
)

// Each rule must find its flaw on the line, and be silent beside it.
func TestKubernetes(t *testing.T) {
	tests := []struct{ rule, bad, good string }{
		{"pod-security-restricted:3", podHead + "  containers:\n  - name: a\n", podHead + "  containers:\n  - " +
			"{name: a, " +
			"securityContext: " + confined + "}\n"},
		{"ingress-with-snippet:6", "kind: Ingress\nmetadata:\n  name: a\n  annotations:\n    a: b\n    " +
			"nginx.ingress.kubernetes.io/server-snippet: x\n", "kind: Ingress\nmetadata: {name: a, annotations: " +
			"{nginx.ingress.kubernetes.io/rewrite-target: /}}\n"},
		{"namespace-without-pod-security:4", "kind: Namespace\nmetadata:\n  name: a\n  labels: " +
			"{b: c}\n", "kind: Namespace\nmetadata: {name: a, labels: {pod-security.kubernetes.io/enforce: " +
			"baseline}}\n"},
		{"container-runs-with-low-gid:6", podHead + "  containers:\n  - name: a\n    image: x\n", podHead +
			"  securityContext: {runAsGroup: 20000}\n  containers:\n  - name: a\n"},
		{"container-runs-with-low-gid:7", podHead + "  containers:\n  - name: a\n    securityContext: " +
			"{runAsGroup: 0}\n", podHead + "  containers:\n  - name: a\n    securityContext: {runAsGroup: 10001}\n"},
		{"container-runs-with-low-gid:5", job + "containers: [{name: a}]}}}}}\n", "kind: ConfigMap\nspec: " +
			"{containers: [{name: a}]}\n"},
		{"container-binds-privileged-port:7", podHead + "  containers:\n  - name: a\n    ports: " +
			"[{containerPort: 80}]\n", podHead + "  containers:\n  - name: a\n    ports: [{containerPort: 8080}]\n"},
		{"unmasked-proc-mount:7", podHead + "  containers:\n  - name: a\n    securityContext: {procMount: Unmasked}\n",
			podHead + "  containers:\n  - name: a\n    securityContext: {procMount: Default}\n"},
		{"windows-host-process:5", podHead + "  securityContext: {windowsOptions: {hostProcess: " +
			"true}}\n", podHead + "  securityContext: {windowsOptions: {hostProcess: false}}\n"},
		{"unsafe-sysctl:5", podHead + "  securityContext: {sysctls: [{name: kernel.msgmax, value: " +
			"'1'}]}\n", podHead + "  securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies, value: '1'}]}\n"},
		{"anonymous-role-binding:4", "kind: ClusterRoleBinding\nroleRef: {name: view}\nsubjects:\n- {kind: Group, " +
			"name: 'system:unauthenticated'}\n", "kind: ClusterRoleBinding\nroleRef: {name: " +
			"'system:discovery'}\nsubjects:\n- {kind: Group, name: 'system:authenticated'}\n"},
		{"service-with-external-ips:2", "kind: Service\nspec: {externalIPs: [1.2.3.4]}\n", "kind: Service\nspec: " +
			"{externalIPs: []}\n"},
		{"config-map-holds-secret:3", "kind: ConfigMap\ndata:\n  DB_PASSWORD: hunter22\n", "kind: ConfigMap\ndata:\n " +
			" DB_PASSWORD: changeme\n  PASSWORD_FILE: /run/x\n  TOKEN: ${TOKEN}\n"},
		{"secret-in-environment:7", podHead + "  containers:\n  - name: a\n    env: [{name: API_KEY, value: " +
			"9f8e7d6c5b4a}]\n", podHead + "  containers:\n  - name: a\n    env: [{name: API_KEY, valueFrom: " +
			"{secretKeyRef: {name: k}}}, {name: SECRET_NAME, value: abcdef}, {name: API_KEY, value: API_KEY_VALUE}]\n"},
		{"role-allows-taking-over:2", "kind: Role\nrules: [{verbs: [bind], resources: [roles]}]\n",
			"kind: Role\nrules: [{verbs: [bind], resources: [roles], resourceNames: [view]}, {verbs: [get], " +
				"resources: [roles]}]\n"},
		{"role-allows-taking-over:2", "kind: ClusterRole\nrules: [{verbs: [create], resources: " +
			"[serviceaccounts/token]}]\n", "kind: ClusterRole\nrules: [{verbs: [create], resources: " +
			"[serviceaccounts]}]\n"},
		{"role-allows-taking-over:2", "kind: ClusterRole\nrules: [{verbs: [get], resources: [nodes/proxy]}]\n",
			"kind: ClusterRole\nrules: [{verbs: [get], resources: [nodes]}]\n"},
		{"network-policy-allows-all:2", "kind: NetworkPolicy\nspec: {ingress: [{from: [{ipBlock: {cidr: " +
			"0.0.0.0/0}}]}]}\n", "kind: NetworkPolicy\nspec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}\n"},
		{"network-policy-allows-all:2", "kind: NetworkPolicy\nspec: {ingress: [{}]}\n", "kind: NetworkPolicy\nspec: " +
			"{ingress: []}\n"},
		{"ingress-without-tls:3", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {rules: [{host: a}]}\n",
			"apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: {rules: [{host: a}], tls: [{hosts: [a]}]}\n"},
	}
	run(t, document.Kubernetes, tests)
}

func TestDockerfile(t *testing.T) {
	tests := []struct{ rule, bad, good string }{
		{"secret-in-build:2", "FROM a\nENV A=1 DB_PASSWORD=hunter22\n", "FROM a\nENV DB_PASSWORD= TOKEN=$T " +
			"PASSWORD_FILE=/x\n"},
		{"secret-in-build:2", "FROM a\nARG NPM_TOKEN\n", "FROM a\nARG TOKEN_URL=x\nARG VERSION\n"},
		{"secret-file-copied:2", "FROM a\nCOPY app .env /app/\n", "FROM a\nCOPY .env.example app /app/\nCOPY " +
			"--from=b /x/id_rsa /y\n"},
		{"remote-script-run:2", "FROM a\nRUN curl -fsSL https://x.example/i.sh | sudo -E bash -\n", "FROM a\nRUN " +
			"curl -o x https://x.example/x && echo a | sh\n"},
		{"remote-script-run:2", "FROM a\nRUN bash <(curl -s https://x.example)\n", "FROM a\nRUN wget " +
			"https://x.example/a.tgz | cat\n"},
		{"certificate-check-disabled:2", "FROM a\nRUN curl -skL https://x.example -o y\n", "FROM a\nRUN curl -sL " +
			"https://x-k.example -o y\n"},
		{"certificate-check-disabled:2", "FROM a\nRUN npm config set strict-ssl false\n", "FROM a\nRUN npm config " +
			"set strict-ssl true\n"},
		{"password-set-in-build:2", "FROM a\nRUN echo 'root:toor' | chpasswd\n", "FROM a\nRUN echo \"root:$PW\" | " +
			"chpasswd\n"},
		{"world-writable-files:2", "FROM a\nRUN chmod -R 777 /srv\n", "FROM a\nRUN chmod -R 755 /srv\n"},
		{"remote-add-without-checksum:2", "FROM a\nADD https://x.example/y /y\n", "FROM a\nADD --checksum=sha256:00 " +
			"https://x.example/y /y\nADD y /y\n"},
		{"multiple-healthchecks:3", "FROM a\nHEALTHCHECK CMD x\nHEALTHCHECK CMD y\n", "FROM a\nHEALTHCHECK CMD " +
			"x\nFROM b\nHEALTHCHECK CMD y\n"},
		{"distribution-upgraded:2", "FROM a\nRUN apt-get update && apt-get -y dist-upgrade\n", "FROM a\nRUN apt-get " +
			"-y upgrade curl\n"},
		{"insecure-build-mode:2", "FROM a\nRUN --network=host x\n", "FROM a\nRUN --network=none x\n"},
	}
	run(t, document.Dockerfile, tests)
}

func TestCloudFormation(t *testing.T) {
	head := "Resources:\n  R:\n    Type: AWS::"
	tests := []struct{ rule, bad, good string }{
		{"eks-control-plane-logging-disabled:4", head + "EKS::Cluster\n    Properties: {Name: a}\n",
			head + "EKS::Cluster\n    Properties: {Logging: {ClusterLogging: {EnabledTypes: [{Type: api}, {Type: " +
				"audit}, {Type: authenticator}]}}}\n"},
		{"eks-endpoint-public:5", head + "EKS::Cluster\n    Properties:\n      ResourcesVpcConfig: {SubnetIds: [a]}\n",
			head + "EKS::Cluster\n    Properties:\n      ResourcesVpcConfig: {PublicAccessCidrs: [192.0.2.0/24]}\n"},
		{"s3-bucket-without-customer-key:4", head + "S3::Bucket\n    Properties: {BucketName: b}\n",
			head + "S3::Bucket\n    Properties: {BucketEncryption: {ServerSideEncryptionConfiguration: " +
				"[{ServerSideEncryptionByDefault: {SSEAlgorithm: 'aws:kms', KMSMasterKeyID: k}}]}}\n"},
		{"rds-performance-insights-disabled:4", head + "RDS::DBInstance\n    Properties: {EnablePerformanceInsights: " +
			"false}\n", head + "RDS::DBInstance\n    Properties: {EnablePerformanceInsights: !Ref On}\n"},
		{"iam-policy-allows-all-of-s3:4", head + "IAM::Policy\n    Properties: {PolicyDocument: {Statement: {Effect: " +
			"Allow, Action: 's3:*', Resource: '*'}}}\n",
			head + "IAM::Policy\n    Properties: {PolicyDocument: {Statement: {Effect: Allow, Action: 's3:*', " +
				"Resource: 'arn:aws:s3:::one/*'}}}\n"},
		{"iam-policy-allows-all-of-s3:4", head + "IAM::Role\n    Properties: {Policies: [{PolicyDocument: " +
			"{Statement: [{Effect: Allow, Action: ['s3:*'], Resource: ['*']}]}}]}\n",
			head + "IAM::Role\n    Properties: {Policies: [{PolicyDocument: {Statement: [{Effect: Deny, Action: " +
				"['s3:*'], Resource: ['*']}]}}]}\n"},
		{"ec2-block-device-unencrypted:4", head + "EC2::Instance\n    Properties: {BlockDeviceMappings: " +
			"[{DeviceName: /dev/xvda, Ebs: {VolumeSize: 8}}]}\n",
			head + "EC2::Instance\n    Properties: {BlockDeviceMappings: [{DeviceName: /dev/xvda, Ebs: {Encrypted: " +
				"'true'}}, {DeviceName: /dev/b, NoDevice: {}}]}\n"},
	}
	run(t, document.CloudFormation, tests)
}

func run(t *testing.T, platform document.Platform, tests []struct{ rule, bad, good string }) {
	t.Helper()
	told := map[string]bool{}
	for _, tt := range tests {
		name, _, _ := strings.Cut(tt.rule, ":")
		told[name] = true
		if got := found(t, platform, tt.bad); !slices.Contains(got, tt.rule) {
			t.Errorf("%s is not found in\n%s: %v", tt.rule, tt.bad, got)
		}
		for _, got := range found(t, platform, tt.good) {
			if strings.HasPrefix(got, name+":") {
				t.Errorf("%s is found in\n%s", got, tt.good)
			}
		}
	}
	for _, c := range byPlatform[platform] {
		if id := c.rule.ID[strings.LastIndexByte(c.rule.ID, '/')+1:]; !told[id] {
			t.Errorf("no test of %s", id)
		}
	}
}

func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.Severity.Rank() == 0 || r.Confidence == "" || len(r.CWE) != 1 ||
			!strings.HasSuffix(r.Description, ".") || r.HowToPrevent == "" {
			t.Errorf("rule %+v", r)
		}
		seen[r.ID] = true
	}
}

// Values of any form end no check.
func FuzzRun(f *testing.F) {
	f.Add("kind: Pod\nspec: {containers: [{name: [], env: {name: 1}, ports: x}, 1]}\n")
	f.Add("Resources: {R: {Type: 'AWS::IAM::Role', Properties: {Policies: [{PolicyDocument: {Statement: [1]}}]}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		trees, err := document.DecodeYAML([]byte(text))
		if err != nil {
			return
		}
		for _, tree := range trees {
			for platform := range byPlatform {
				Run([]*document.Document{{Platform: platform, Path: "x", Root: tree.Root, Lines: tree.Lines}})
			}
		}
	})
}
