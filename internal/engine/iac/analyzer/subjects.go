package analyzer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"merlon/internal/engine/iac/rules/cloud"
	"merlon/internal/finding"
)

// This file makes one finding of several that say the same: rules that speak of one
// subject at one place, and one rule that has much to tell of one document.

// A told is a finding before it is reported.
type told struct {
	rule     *finding.Rule
	finding  finding.Finding
	resource string // its address, with the platform's own rules and ours alike
}

// A subject is what several rules ask about, the one first that says most. Their
// names are those behind the platform's.
type subject struct {
	rules []string
	// resource is set where one resource has the subject once, so that the rules
	// need not tell the same line.
	resource bool
}

// subjects lists what several rules look at: of the findings on one place, that of the first rule
// stays.
// To add a rule, put its name, without the platform, where its message says more than the names
// behind it. A rule may be in one subject only: its place there is its rank.
var subjects = []subject{
	// Networks: one rule of a firewall that lets everybody in, whatever ports it opens.
	{rules: []string{
		"aws-security-group-with-unrestricted-access-to-ssh", "aws-security-groups-with-unrestricted-access-to-ssh",
		"aws-world-access-ssh", "cfn-world-access-ssh",
		"aws-remote-desktop-port-open-to-internet", "aws-security-groups-unrestricted-access-to-rdp",
		"aws-world-access-rdp", "cfn-world-access-rdp",
		"aws-world-access-all", "cfn-world-access-all", "aws-http-port-open", "aws-world-access-http",
		"cfn-world-access-http",
		"aws-sensitive-port-is-exposed-to-entire-network", "aws-ec2-sensitive-port-is-publicly-exposed",
		"aws-security-groups-with-exhibited-admin-ports",
		"aws-unknown-port-exposed-to-internet", "aws-unrestricted-security-group-ingress",
		"aws-db-security-group-open-to-large-scope",
		"aws-fully-open-ingress", "aws-sensitive-port-is-exposed-to-wide-private-network",
		"aws-security-group-ingress-has-cidr-not-recommended",
	}},
	{rules: []string{"aws-security-group-egress-cidr-open-to-world",
		"aws-security-groups-allows-unrestricted-outbound-traffic", "aws-security-group-egress-with-all-protocols",
		"aws-world-access-egress-all"}},
	{rules: []string{
		"aws-network-acl-with-unrestricted-access-to-ssh", "aws-network-acl-with-unrestricted-access-to-rdp",
		"aws-world-access-nacl-ssh", "aws-world-access-nacl-rdp",
		"aws-world-access-nacl-all", "aws-world-access-nacl-ftp", "aws-world-access-nacl-ftp-data",
		"cfn-world-access-nacl-ssh", "cfn-world-access-nacl-rdp", "cfn-world-access-nacl-all",
	}},
	{rules: []string{"aws-world-access-nacl-rule-ssh", "aws-world-access-nacl-rule-rdp",
		"aws-world-access-nacl-rule-all", "aws-world-access-nacl-rule-ftp", "aws-world-access-nacl-rule-ftp-data"}},
	{rules: []string{"gcp-ssh-access-is-not-restricted", "google-network-ssh", "gcp-rdp-access-is-not-restricted",
		"google-network-rdp", "google-network-http", "google-network-ftp", "google-network-mysql",
		"ingress-world-google"}},
	{rules: []string{
		"azure-world-access-ssh", "azure-ssh-is-exposed-to-the-internet", "azure-world-access-rdp",
		"azure-rdp-is-exposed-to-the-internet", "azure-world-access-http",
		"network-security-group-with-unrestricted-access-to-ssh",
		"network-security-group-with-unrestricted-access-to-rdp", "arm-world-access-ssh", "arm-world-access-rdp",
		"arm-world-access-http", "arm-world-access-group-http",
	}},
	{resource: true, rules: []string{"gcp-network-policy-disabled", "google-gke-network-policy"}},
	{resource: true, rules: []string{"gcp-project-wide-ssh-keys-are-enabled-in-vm-instances",
		"google-compute-project-keys"}},
	{resource: true, rules: []string{"gcp-shielded-vm-disabled", "google-compute-shielded",
		"google-compute-secure-boot"}},

	// Kubernetes: one mount of a folder of the node.
	{rules: []string{"workload-mounting-with-sensitive-os-directory", "non-kube-system-pod-with-host-mount"}},
	{resource: true, rules: []string{"aws-vpc-flowlogs-disabled", "cfn-logging-ec2-vpc", "aws-logging-vpc"}},

	// Buckets: a block of public access that is absent lacks all its four settings.
	{rules: []string{
		"aws-bucket-block", "aws-s3-bucket-allows-public-acl", "aws-s3-bucket-with-public-policy",
		"aws-s3-bucket-without-ignore-public-acl", "aws-s3-bucket-without-restriction-of-public-bucket",
		"aws-bucket-block-setting-restrict", "cfn-service-block-public-acls", "cfn-service-block-public-policy",
		"cfn-service-ignore-public-acls", "cfn-service-restrict-public-buckets",
	}},
	{rules: []string{"aws-bucket-policy-public", "aws-s3-bucket-access-to-any-principal",
		"aws-s3-bucket-with-all-permissions", "aws-s3-bucket-allows-delete-actions-from-all-principals",
		"aws-s3-bucket-allows-get-actions-from-all-principals", "aws-s3-bucket-allows-list-actions-from-all-principals",
		"aws-s3-bucket-allows-put-actions-from-all-principals"}},
	{rules: []string{"aws-bucket-acl-public", "aws-s3-bucket-acl-allows-read-or-write-to-all-users",
		"aws-s3-bucket-acl-allows-read-to-all-users", "aws-cloudtrail-log-files-s3-bucket-is-publicly-accessible"}},
	{rules: []string{"aws-s3-bucket-policy-accepts-http-requests", "aws-bucket-transport",
		"aws-s3-bucket-without-ssl-in-write-actions"}},
	{resource: true, rules: []string{"aws-s3-bucket-without-server-side-encryption", "s3-bucket-without-customer-key",
		"aws-bucket-key"}},
	{resource: true, rules: []string{"aws-s3-bucket-logging-disabled", "aws-bucket-log", "cfn-logging-s3-bucket",
		"aws-s3-bucket-cloudtrail-logging-disabled"}},

	// Encryption: what is not encrypted has no key of its own either.
	{resource: true, rules: []string{"aws-rds-storage-not-encrypted", "aws-rds-storage-encryption-disabled",
		"aws-aurora-with-disabled-at-rest-encryption", "cfn-encryption-at-rest-rds-dbinstance",
		"cfn-encryption-at-rest-rds-dbcluster", "aws-cmk-unencrypted-storage", "aws-customer-key-rds-cluster"}},
	{resource: true, rules: []string{"aws-elasticsearch-not-encrypted-at-rest",
		"cfn-encryption-at-rest-elasticsearch-domain", "aws-encryption-at-rest-elasticsearch-domain",
		"aws-elasticsearch-domain-encryption-with-kms-disabled", "cfn-customer-key-elasticsearch-domain",
		"aws-customer-key-elasticsearch-domain"}},
	{resource: true, rules: []string{"aws-elasticsearch-domain-not-encrypted-node-to-node",
		"cfn-transport-encryption-search-nodes", "aws-transport-encryption-search-nodes"}},
	{resource: true, rules: []string{"aws-elasticsearch-with-https-disabled", "cfn-transport-encryption-search-https",
		"aws-transport-encryption-search-https"}},
	{resource: true, rules: []string{"aws-neptune-database-cluster-encryption-disabled",
		"aws-encryption-at-rest-neptune-cluster", "cfn-encryption-at-rest-neptune-dbcluster",
		"aws-customer-key-neptune-cluster", "cfn-customer-key-neptune-dbcluster"}},
	{resource: true, rules: []string{"aws-efs-not-encrypted", "aws-efs-without-kms", "aws-customer-key-efs-file-system",
		"cfn-encryption-at-rest-efs-filesystem", "cfn-customer-key-efs-filesystem"}},
	{resource: true, rules: []string{"aws-ebs-volume-encryption-disabled", "aws-ebs-volume-without-kms-key-id",
		"cfn-encryption-at-rest-ec2-volume", "cfn-customer-key-ec2-volume"}},
	{resource: true, rules: []string{"aws-secretsmanager-secret-without-kms",
		"aws-secrets-manager-should-specify-kms-key-id", "cfn-customer-key-secretsmanager-secret"}},
	{resource: true, rules: []string{"aws-redshift-not-encrypted", "cfn-encryption-at-rest-redshift-cluster",
		"aws-redshift-cluster-without-kms-cmk", "cfn-customer-key-redshift-cluster"}},
	{resource: true, rules: []string{"aws-dax-cluster-not-encrypted", "cfn-encryption-at-rest-dax-cluster"}},
	{resource: true, rules: []string{"aws-kinesis-sse-not-configured", "cfn-encryption-at-rest-kinesis-stream",
		"cfn-customer-key-kinesis-stream"}},
	{resource: true, rules: []string{"aws-sqs-with-sse-disabled", "cfn-encryption-at-rest-sqs-queue",
		"cfn-customer-key-sqs-queue"}},
	{resource: true, rules: []string{"aws-sns-topic-without-kms-master-key-id", "cfn-encryption-at-rest-sns-topic",
		"cfn-customer-key-sns-topic"}},
	{resource: true, rules: []string{"aws-cloudtrail-log-files-not-encrypted-with-kms",
		"cfn-customer-key-cloudtrail-trail", "aws-customer-key-cloudtrail"}},
	{resource: true, rules: []string{"aws-elasticache-with-disabled-at-rest-encryption",
		"cfn-encryption-at-rest-elasticache-replicationgroup", "cfn-customer-key-elasticache-replicationgroup"}},
	{resource: true, rules: []string{"aws-elasticache-with-disabled-transit-encryption",
		"cfn-transport-encryption-elasticache-replicationgroup"}},
	{resource: true, rules: []string{"alicloud-oss-bucket-cmk-encryption-disabled", "alicloud-encryption-oss-bucket",
		"alicloud-encryption-oss-key"}},

	// Logs, backups and the rest of the services.
	{resource: true, rules: []string{"aws-rds-with-backup-disabled", "aws-low-rds-backup-retention-period",
		"cfn-backup-rds-dbinstance", "cfn-backup-rds-dbcluster"}},
	{resource: true, rules: []string{"aws-elb-v2-alb-access-log-disabled",
		"cfn-logging-elasticloadbalancingv2-loadbalancer"}},
	{resource: true, rules: []string{"aws-elb-access-log-disabled", "cfn-logging-elasticloadbalancing-loadbalancer"}},
	{resource: true, rules: []string{"aws-msk-cluster-logging-disabled", "aws-logging-msk-cluster",
		"cfn-logging-msk-cluster"}},
	{resource: true, rules: []string{"aws-mq-broker-logging-disabled", "cfn-logging-amazonmq-broker",
		"cfn-logging-mq-audit"}},
	{resource: true, rules: []string{"aws-redshift-cluster-logging-disabled", "cfn-logging-redshift-cluster"}},
	{resource: true, rules: []string{"aws-cloudtrail-not-integrated-with-cloudwatch",
		"cfn-logging-cloudtrail-cloudwatch"}},
	{resource: true, rules: []string{"aws-api-gateway-without-waf", "aws-waf-api-gateway-stage"}},
	{resource: true, rules: []string{"eks-endpoint-public", "aws-eks-public-endpoint-anywhere",
		"aws-eks-public-endpoint-at-all"}},
	{resource: true, rules: []string{"aws-eks-cluster-encryption-disabled", "cfn-customer-key-eks-cluster"}},
	{resource: true, rules: []string{"aws-retention-log-group-set", "aws-retention-log-group-year",
		"aws-retention-log-group-long"}},

	{resource: true, rules: []string{"aws-dynamodb-table-not-encrypted", "aws-dynamodb-with-aws-owned-cmk",
		"cfn-customer-key-dynamodb-table"}},

	// Serverless applications: what they say, and what is made of it.
	{rules: []string{"aws-sam-serverless-function-without-dead-letter-queue",
		"aws-lambda-function-without-dead-letter-queue"}},
	{rules: []string{"aws-sam-serverless-function-without-tags", "aws-lambda-function-without-tags"}},
	{rules: []string{"aws-sam-serverless-function-without-x-ray-tracing",
		"aws-lambda-functions-without-x-ray-tracing"}},
	{rules: []string{"aws-sam-serverless-function-without-unique-iam-role",
		"aws-lambda-functions-without-unique-iam-roles"}},
	{rules: []string{"aws-sam-serverless-api-access-logging-setting-undefined",
		"aws-api-gateway-access-logging-disabled", "cfn-logging-apigateway-stage", "cfn-logging-apigatewayv2-stage"}},
	{rules: []string{"aws-sam-serverless-api-cache-cluster-disabled", "aws-api-gateway-cache-cluster-disabled",
		"cfn-service-api-cache"}},
	{rules: []string{"aws-sam-serverless-api-endpoint-config-not-private",
		"aws-api-gateway-endpoint-config-is-not-private"}},
	{rules: []string{"aws-sam-serverless-api-without-content-encoding", "aws-api-gateway-with-invalid-compression"}},
	{rules: []string{"aws-sam-serverless-api-xray-tracing-disabled", "aws-api-gateway-xray-disabled",
		"cfn-service-api-tracing"}},

	// Rights.
	{rules: []string{"aws-policy-everything", "serverless-role-with-full-privileges",
		"aws-lambda-functions-with-full-privileges", "cfn-policy-role-wildcard",
		"aws-iam-policies-with-full-privileges", "aws-iam-policy-grants-full-permissions",
		"aws-policy-service-wildcard", "aws-iam-policy-allows-for-data-exfiltration", "iam-policy-allows-all-of-s3"}},
	{rules: []string{"aws-role-trust-everybody", "cfn-policy-trust-everybody",
		"aws-iam-role-allows-all-principals-to-assume", "aws-role-trust-account",
		"aws-cross-account-iam-assume-role-policy-without-external-id-or-mfa"}},
	{rules: []string{"rbac-wildcard-in-rule", "rbac-roles-with-read-secrets-permissions",
		"service-account-allows-access-secrets"}},

	// Workloads.
	{rules: []string{"no-drop-capabilities-for-containers", "net-raw-capabilities-not-being-dropped"}},
	{rules: []string{"kubernetes-no-drop-capabilities-for-containers",
		"kubernetes-net-raw-capabilities-not-being-dropped"}},
	{rules: []string{"containers-with-sys-admin-capabilities", "containers-with-added-capabilities"}},
	{rules: []string{"kubernetes-containers-with-sys-admin-capabilities",
		"kubernetes-container-with-added-capabilities"}},
	{rules: []string{"containers-running-as-root", "containers-run-with-low-uid"}},
	{rules: []string{"invalid-image", "image-without-digest"}},
	{rules: []string{"pod-or-container-without-resource-quota", "pod-or-container-without-limit-range"}},
	{rules: []string{"shared-host-network-namespace", "psp-containers-share-host-network-namespace"}},
	{rules: []string{"shared-host-ipc-namespace", "psp-allows-sharing-host-ipc"}},
	{rules: []string{"shared-host-pid-namespace", "psp-allows-sharing-host-pid"}},
	{rules: []string{"kubernetes-shared-host-network-namespace",
		"kubernetes-psp-allows-containers-to-share-the-host-network-namespace"}},
	{rules: []string{"kubernetes-shared-host-ipc-namespace", "kubernetes-psp-allows-sharing-host-ipc"}},
	{rules: []string{"docker-socket-mounted-in-container", "volume-has-sensitive-host-directory"}},
	{rules: []string{"image-version-using-latest", "image-version-not-explicit"}},

	// Azure.
	{resource: true, rules: []string{"storage-account-allows-network-default-access",
		"default-azure-storage-account-network-access-is-too-permissive", "arm-public-network-storage-acl",
		"arm-public-network-storage-storageaccounts"}},
	{resource: true, rules: []string{"azure-public-network-storage-account", "azure-storage-public-account"}},
	{resource: true, rules: []string{"storage-account-allows-unsecure-transfer",
		"arm-https-only-storage-storageaccounts", "arm-https-only-storage-old"}},
	{rules: []string{"storage-blob-service-container-with-public-access", "arm-world-access-blob"}},
	{resource: true, rules: []string{"arm-world-access-blob-account", "arm-world-access-blob-account-old"}},
	{resource: true, rules: []string{"aks-cluster-network-policy-not-configured", "arm-kubernetes-network-policy"}},
	{resource: true, rules: []string{"aks-cluster-rbac-disabled", "arm-kubernetes-rbac"}},
	{resource: true, rules: []string{"aks-logging-azure-monitoring-disabled", "arm-kubernetes-monitoring"}},
	{resource: true, rules: []string{"aks-with-authorized-ip-ranges-disabled", "arm-public-network-aks-ranges",
		"arm-public-network-aks-private"}},
	{resource: true, rules: []string{"azure-aks-private-cluster-disabled", "azure-public-network-aks-ranges"}},
	{resource: true, rules: []string{"website-not-forcing-https", "arm-https-only-web-sites"}},
	{resource: true, rules: []string{"web-app-not-using-tls-last-version", "arm-old-tls-web-sites"}},
	{resource: true, rules: []string{"website-with-http20enabled-disabled", "arm-app-http2"}},
	{resource: true, rules: []string{"website-with-client-certificate-auth-disabled", "arm-app-client-certificate"}},
	{resource: true, rules: []string{"website-azure-active-directory-disabled", "arm-managed-identity-web-sites"}},
	{resource: true, rules: []string{"key-vault-not-recoverable", "arm-key-vault-purge", "arm-key-vault-soft-delete"}},
	{resource: true, rules: []string{"arm-public-network-keyvault-vaults", "arm-public-network-key-vault-acl"}},
	{resource: true, rules: []string{"azure-public-network-key-vault", "azure-public-network-key-vault-acl"}},
	{resource: true, rules: []string{"secret-without-expiration-date", "arm-key-vault-secret-expiry"}},
	{resource: true, rules: []string{"azure-managed-disk-without-encryption", "arm-encryption-at-rest-compute-disks",
		"arm-customer-key-compute-disks"}},
	{resource: true, rules: []string{"arm-public-network-disk-policy", "arm-public-network-compute-disks"}},
	{resource: true, rules: []string{"azure-public-network-disk-policy", "azure-public-network-managed-disk"}},
	{resource: true, rules: []string{"postgresql-server-ssl-disabled", "arm-https-only-dbforpostgresql-servers"}},
	{resource: true, rules: []string{"mysql-server-ssl-enforcement-disabled", "arm-https-only-dbformysql-servers"}},
	{resource: true, rules: []string{"standard-price-not-selected", "arm-service-defender"}},
	{resource: true, rules: []string{"sql-database-server-firewall-allows-all-ips", "arm-world-access-database"}},
	{resource: true, rules: []string{"sql-server-database-without-auditing", "arm-database-sql-audit",
		"arm-database-sql-audit-off"}},
	{resource: true, rules: []string{"sql-server-database-with-low-retention-days", "arm-database-sql-audit-days"}},
	{resource: true, rules: []string{"synapse-workspace-managed-virtual-network-not-enabled",
		"arm-database-synapse-network"}},
	{resource: true, rules: []string{"unrecommended-log-profile-retention-policy", "arm-service-monitor-retention"}},
	{resource: true, rules: []string{"log-profile-incorrect-category", "arm-service-monitor-categories"}},
	{resource: true, rules: []string{"unrecommended-network-watcher-flow-log-retention-policy",
		"arm-service-flow-log-days"}},
	{resource: true, rules: []string{"role-definitions-allow-custom-subscription-role-creation",
		"arm-service-role-everything"}},
	{resource: true, rules: []string{"azure-instance-using-basic-authentication", "arm-local-auth-machine-password"}},
}

// A rank is a subject with the place of a rule in it.
type rank struct{ subject, place int }

// ranks tells for each rule its subject and its place there.
var ranks = func() map[string]rank {
	out := map[string]rank{}
	for i, s := range subjects {
		for k, name := range s.rules {
			out[name] = rank{i, k}
		}
	}
	return out
}()

// merge leaves one finding of those that speak of one subject at one place, which
// names the rules of the others. The order of the rest stays.
func merge(all []told) []told {
	first := map[string]int{} // by subject and place, in all
	drop := make([]bool, len(all))
	for i := range all {
		r, ok := ranks[path.Base(all[i].rule.ID)]
		if !ok {
			continue
		}
		at := all[i].finding.Location
		key := fmt.Sprintf("%d\x00%s\x00%d", r.subject, at.Path, at.StartLine)
		if subjects[r.subject].resource && all[i].resource != "" {
			key = fmt.Sprintf("%d\x00%s\x00%s", r.subject, at.Path, all[i].resource)
		}
		before, ok := first[key]
		if !ok {
			first[key] = i
			continue
		}
		// Two findings of one rule on one line are two resources, for example in one list.
		if all[before].rule == all[i].rule || apart(all[before], all[i]) {
			continue
		}
		keep, lose := before, i
		if r.place < ranks[path.Base(all[before].rule.ID)].place {
			keep, lose = i, before
			first[key] = i
		}
		drop[lose] = true
		// The report names the other rules along with the finding.
		also := append(all[lose].finding.EquivalentRules, all[lose].rule.ID)
		all[keep].finding.EquivalentRules = append(all[keep].finding.EquivalentRules, also...)
	}
	var out []told
	for i, t := range all {
		if !drop[i] {
			slices.Sort(t.finding.EquivalentRules)
			t.finding.EquivalentRules = slices.Compact(t.finding.EquivalentRules)
			out = append(out, t)
		}
	}
	return out
}

// apart reports whether two findings of a resource's subject are told each for
// itself: queries that point at different lines, because they ask about two
// arguments.
func apart(a, b told) bool {
	ours := strings.HasPrefix(a.rule.ID, cloud.Prefix) || strings.HasPrefix(b.rule.ID, cloud.Prefix)
	return !ours && a.finding.Location.StartLine != b.finding.Location.StartLine
}

// many is how often a rule may speak of one document before it is told once, with
// the other places.
// A dozen fits on a screen; more of the same hides the other findings.
const many = 12

// repetitive are rules that tell the same of each of a kind of things: what is to be
// done is done for all at once.
var repetitive = map[string]bool{
	"kubernetes/pod-or-container-without-resource-quota": true,
	"kubernetes/pod-or-container-without-limit-range":    true,
	"kubernetes/using-unrecommended-namespace":           true,
	"terraform/aws-resource-not-using-tags":              true,
	"terraform/general-name-is-not-snake-case":           true,
	"terraform/general-variable-without-description":     true,
	"terraform/general-variable-without-type":            true,
	"terraform/general-output-without-description":       true,
}

// gather makes one finding of what a repetitive rule, or a rule about the description
// of an API, tells more than many times in one file.
func gather(all []told) []told {
	groups := map[string][]int{}
	for i, t := range all {
		id := strings.TrimPrefix(t.rule.ID, "iac/")
		if repetitive[id] || strings.HasPrefix(id, "openapi/") {
			key := t.rule.ID + "\x00" + t.finding.Location.Path
			groups[key] = append(groups[key], i)
		}
	}
	drop := map[int]bool{}
	for _, group := range groups {
		if len(group) <= many {
			continue
		}
		slices.SortFunc(group, func(a, b int) int {
			return cmp.Compare(all[a].finding.Location.StartLine, all[b].finding.Location.StartLine)
		})
		one := &all[group[0]].finding
		for _, i := range group[1:] {
			drop[i] = true
			one.Also = append(one.Also, all[i].finding.Location)
		}
		one.Message = fmt.Sprintf("%s. The same applies at %d other locations in the file", one.Message, len(group)-1)
		// The fingerprint must not change with each further location.
		one.Identity = "everywhere"
	}
	var out []told
	for i, t := range all {
		if !drop[i] {
			out = append(out, t)
		}
	}
	return out
}
