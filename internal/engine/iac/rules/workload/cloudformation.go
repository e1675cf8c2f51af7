package workload

import (
	"strings"
)

// This file holds the rules for CloudFormation, after the resources' documentation
// (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/).

// cloudFormation returns the rules for templates. Each row pairs the texts of a rule (title,
// description, remediation) with the function that evaluates it; to add a rule, write its texts and
// append a row here.
func cloudFormation() []check {
	return []check{
		{texts.Get("cloudformation/eks-control-plane-logging-disabled"), eksLogging},
		{texts.Get("cloudformation/eks-endpoint-public"), eksPublic},
		{texts.Get("cloudformation/s3-bucket-without-customer-key"), bucketKey},
		{texts.Get("cloudformation/rds-performance-insights-disabled"), performanceInsights},
		{texts.Get("cloudformation/iam-policy-allows-all-of-s3"), wideS3},
		{texts.Get("cloudformation/ec2-block-device-unencrypted"), blockDevices},
	}
}

// listResources returns the resources of a template of the types.
func (l *look) listResources(types ...string) []spot {
	// Sorted names keep the order of the findings the same from run to run.
	all, _ := l.rootValue().valueAt("Resources").value.(map[string]any)
	var out []spot
	for _, name := range sortedKeys(all) {
		r := l.rootValue().valueAt("Resources", name)
		kind := r.valueAt("Type").textValue()
		for _, t := range types {
			if kind == t {
				p := r.valueAt("Properties")
				p.kind, p.name = t, name
				out = append(out, p)
			}
		}
	}
	return out
}

// isComputed reports whether a value is only known when the stack is made.
func (s spot) isComputed() bool {
	// A short-form intrinsic (!Ref, !Sub) is a tagged scalar; the long form is a map with one key.
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

// eksLogging reports clusters whose control plane does not log the API, audit and authenticator
// streams. These three record who did what; the scheduler and controllerManager logs only help to
// operate the cluster. One finding names the first missing stream.
func eksLogging(l *look) {
	for _, p := range l.listResources("AWS::EKS::Cluster") {
		types := p.valueAt("Logging", "ClusterLogging", "EnabledTypes")
		// A value from a parameter or mapping may well enable the logs: no finding without
		// certainty.
		if types.isComputed() || p.valueAt("Logging").isComputed() {
			continue
		}
		on := map[string]bool{}
		for _, t := range types.listItems() {
			on[t.valueAt("Type").textValue()] = true
		}
		for _, want := range []string{"api", "audit", "authenticator"} {
			if !on[want] {
				l.report(types, "the control plane's "+want+" log is off", "the log is on")
				break
			}
		}
	}
}

// eksPublic reports clusters whose API endpoint is reachable from every address. The endpoint is
// public by default, and without PublicAccessCidrs it admits 0.0.0.0/0.
func eksPublic(l *look) {
	for _, p := range l.listResources("AWS::EKS::Cluster") {
		vpc := p.valueAt("ResourcesVpcConfig")
		public, networks := vpc.valueAt("EndpointPublicAccess"), vpc.valueAt("PublicAccessCidrs")
		if public.isBool(false) || public.isComputed() || networks.isComputed() {
			continue
		}
		if len(networks.listItems()) == 0 || networks.hasAny("0.0.0.0/0", "::/0") {
			l.report(public, "the endpoint answers everybody", "it is private, or networks are named")
		}
	}
}

// bucketKey reports buckets that only the key of S3 itself encrypts (SSE-S3). A customer key brings
// a key policy and a log entry for each use of the key.
func bucketKey(l *look) {
	for _, p := range l.listResources("AWS::S3::Bucket") {
		rules := p.valueAt("BucketEncryption", "ServerSideEncryptionConfiguration")
		if p.valueAt("BucketEncryption").isComputed() || rules.isComputed() {
			continue
		}
		own := false
		for _, r := range rules.listItems() {
			own = own || r.valueAt("ServerSideEncryptionByDefault", "KMSMasterKeyID").isPresent()
		}
		if !own {
			l.report(rules, "no key of the customer encrypts the bucket", "KMSMasterKeyID names a key")
		}
	}
}

// performanceInsights reports databases that keep no record of load by query and user; the property
// is false by default.
func performanceInsights(l *look) {
	for _, p := range l.listResources("AWS::RDS::DBInstance") {
		if on := p.valueAt("EnablePerformanceInsights"); !on.isBool(true) && !on.isComputed() {
			l.report(on, "Performance Insights is off", "EnablePerformanceInsights is true")
		}
	}
}

// wideS3 reports policies that allow every action on every bucket. Managed policies carry the
// document in PolicyDocument; roles, users and groups carry a list of inline policies.
func wideS3(l *look) {
	var policies []spot
	for _, p := range l.listResources("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy") {
		policies = append(policies, p.valueAt("PolicyDocument"))
	}
	for _, p := range l.listResources("AWS::IAM::Role", "AWS::IAM::User", "AWS::IAM::Group") {
		for _, one := range p.valueAt("Policies").listItems() {
			policies = append(policies, one.valueAt("PolicyDocument"))
		}
	}
	for _, p := range policies {
		for _, s := range p.valueAt("Statement").listItems() {
			action := s.valueAt("Action")
			if s.valueAt("Effect").textValue() == "Allow" && action.hasAny("s3:*", "*") &&
				coversAllBuckets(s.valueAt("Resource")) {
				l.report(action, "everything in S3 is allowed", "the actions and buckets are named")
			}
		}
	}
}

// coversAllBuckets reports whether a policy's resources are all buckets.
func coversAllBuckets(resources spot) bool {
	return resources.hasAny("*", "arn:aws:s3:::*", "arn:aws:s3:::*/*")
}

// blockDevices reports disks of instances that are not encrypted. A disk from a snapshot inherits
// the encryption of the snapshot, so it is skipped; an instance store has no Ebs block.
func blockDevices(l *look) {
	for _, p := range l.listResources("AWS::EC2::Instance", "AWS::AutoScaling::LaunchConfiguration") {
		for _, d := range p.valueAt("BlockDeviceMappings").listItems() {
			on := d.valueAt("Ebs", "Encrypted")
			if d.valueAt("Ebs").isPresent() && !d.valueAt("Ebs").isComputed() && !on.isBool(true) && !on.isComputed() &&
				!d.valueAt("Ebs", "SnapshotId").isPresent() {
				l.report(on, "the disk "+d.valueAt("DeviceName").textValue()+" is not encrypted",
					"Ebs.Encrypted is true")
			}
		}
		// Without mappings the root disk follows the AMI, which is usually not encrypted.
		if mappings := p.valueAt("BlockDeviceMappings"); !mappings.isPresent() {
			l.report(p, "the root disk is not encrypted unless the account does so", "BlockDeviceMappings encrypt the "+
				"root device")
		}
	}
}
