package workload

import (
	"strings"

	"merlon/internal/finding"
)

// This file holds the rules for CloudFormation, after the resources' documentation
// (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/).

func cloudFormation() []check {
	var out []check
	add := func(t text, find func(*look)) {
		out = append(out, check{t.rule("cloudformation", "CloudFormation"), find})
	}
	add(text{"eks-control-plane-logging-disabled", "EKS control plane logging " +
		"disabled", finding.Medium, finding.Certain, "CWE-778",
		"Without the logs of the API server, audit and authenticator nobody can tell who did what in the cluster.",
		"List `api`, `audit`, `authenticator`, `controllerManager` and `scheduler` below " +
			"`Logging.ClusterLogging.EnabledTypes`."}, eksLogging)
	add(text{"eks-endpoint-public", "EKS endpoint publicly accessible", finding.High, finding.Certain, "CWE-668",
		"The cluster's API answers the whole internet unless networks are named; that is the default.",
		"Set `ResourcesVpcConfig.EndpointPublicAccess` to false, or name networks in `PublicAccessCidrs`."}, eksPublic)
	add(text{"s3-bucket-without-customer-key", "S3 bucket without a " +
		"customer-managed key", finding.Low, finding.Likely, "CWE-311",
		"Objects are encrypted with a key of S3 that every account with read access can use and that cannot be " +
			"taken away.",
		"Set `ServerSideEncryptionByDefault` to `aws:kms` with a `KMSMasterKeyID`."}, bucketKey)
	add(text{"rds-performance-insights-disabled", "RDS Performance Insights " +
		"disabled", finding.Low, finding.Likely, "CWE-778",
		"Unusual load on the database stays unseen.",
		"Set `EnablePerformanceInsights` to true, with a key in `PerformanceInsightsKMSKeyId`."}, performanceInsights)
	add(text{"iam-policy-allows-all-of-s3", "IAM policy allows " +
		"everything in S3", finding.High, finding.Certain, "CWE-732",
		"`s3:*` on every bucket also deletes them, makes them public and takes their policies away.",
		"Name the actions and the buckets that are needed."}, wideS3)
	add(text{"ec2-block-device-unencrypted", "EC2 block device not encrypted", finding.High, finding.Likely, "CWE-311",
		"Snapshots and copies of the disk can be read without a key.",
		"Set `Ebs.Encrypted` to true in each of the `BlockDeviceMappings`, the root device included."}, blockDevices)
	return out
}

// resources returns the properties of the resources of the types.
func (l *look) resources(types ...string) []spot {
	all, _ := l.root().at("Resources").value.(map[string]any)
	var out []spot
	for _, name := range sorted(all) {
		r := l.root().at("Resources", name)
		kind := r.at("Type").text()
		for _, t := range types {
			if kind == t {
				p := r.at("Properties")
				p.kind, p.name = t, name
				out = append(out, p)
			}
		}
	}
	return out
}

// computed reports whether a value is only known when the stack is made.
func (s spot) computed() bool {
	m, ok := s.value.(map[string]any)
	if !ok {
		return s.node != nil && s.node.Tag != ""
	}
	for key := range m {
		if key == "Ref" || strings.HasPrefix(key, "Fn::") {
			return true
		}
	}
	return false
}

func eksLogging(l *look) {
	for _, p := range l.resources("AWS::EKS::Cluster") {
		types := p.at("Logging", "ClusterLogging", "EnabledTypes")
		if types.computed() || p.at("Logging").computed() {
			continue
		}
		on := map[string]bool{}
		for _, t := range types.items() {
			on[t.at("Type").text()] = true
		}
		for _, want := range []string{"api", "audit", "authenticator"} {
			if !on[want] {
				l.tell(types, "the control plane's "+want+" log is off", "the log is on")
				break
			}
		}
	}
}

func eksPublic(l *look) {
	for _, p := range l.resources("AWS::EKS::Cluster") {
		vpc := p.at("ResourcesVpcConfig")
		public, networks := vpc.at("EndpointPublicAccess"), vpc.at("PublicAccessCidrs")
		if public.is(false) || public.computed() || networks.computed() {
			continue
		}
		if len(networks.items()) == 0 || networks.holds("0.0.0.0/0", "::/0") {
			l.tell(public, "the endpoint answers everybody", "it is private, or networks are named")
		}
	}
}

func bucketKey(l *look) {
	for _, p := range l.resources("AWS::S3::Bucket") {
		rules := p.at("BucketEncryption", "ServerSideEncryptionConfiguration")
		if p.at("BucketEncryption").computed() || rules.computed() {
			continue
		}
		own := false
		for _, r := range rules.items() {
			own = own || r.at("ServerSideEncryptionByDefault", "KMSMasterKeyID").has()
		}
		if !own {
			l.tell(rules, "no key of the customer encrypts the bucket", "KMSMasterKeyID names a key")
		}
	}
}

func performanceInsights(l *look) {
	for _, p := range l.resources("AWS::RDS::DBInstance") {
		if on := p.at("EnablePerformanceInsights"); !on.is(true) && !on.computed() {
			l.tell(on, "Performance Insights is off", "EnablePerformanceInsights is true")
		}
	}
}

func wideS3(l *look) {
	var policies []spot
	for _, p := range l.resources("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy") {
		policies = append(policies, p.at("PolicyDocument"))
	}
	for _, p := range l.resources("AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group") {
		for _, one := range p.at("Policies").items() {
			policies = append(policies, one.at("PolicyDocument"))
		}
	}
	for _, p := range policies {
		for _, s := range p.at("Statement").items() {
			action := s.at("Action")
			if s.at("Effect").text() == "Allow" && action.holds("s3:*", "*") && wide(s.at("Resource")) {
				l.tell(action, "everything in S3 is allowed", "the actions and buckets are named")
			}
		}
	}
}

// wide reports whether a policy's resources are all buckets.
func wide(resources spot) bool {
	return resources.holds("*", "arn:aws:s3:::*", "arn:aws:s3:::*/*")
}

func blockDevices(l *look) {
	for _, p := range l.resources("AWS::EC2::Instance", "AWS::AutoScaling::LaunchConfiguration") {
		for _, d := range p.at("BlockDeviceMappings").items() {
			on := d.at("Ebs", "Encrypted")
			if d.at("Ebs").has() && !d.at("Ebs").computed() && !on.is(true) && !on.computed() &&
				!d.at("Ebs", "SnapshotId").has() {
				l.tell(on, "the disk "+d.at("DeviceName").text()+" is not encrypted", "Ebs.Encrypted is true")
			}
		}
		if mappings := p.at("BlockDeviceMappings"); !mappings.has() {
			l.tell(p, "the root disk is not encrypted unless the account does so", "BlockDeviceMappings encrypt the "+
				"root device")
		}
	}
}
