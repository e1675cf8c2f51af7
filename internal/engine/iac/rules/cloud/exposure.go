package cloud

import (
	"fmt"
	"slices"
	"strings"

	"merlon/internal/engine/iac/terraform"
	"merlon/internal/finding"
)

// This file holds the rules about what the internet reaches: buckets by policy or
// ACL, and groups behind balancers.

// pathStep makes a step of a path: another resource that the flaw needs.
func pathStep(message string, r *terraform.Resource) finding.Step {
	return finding.Step{Kind: finding.Intermediate, Message: message, Location: r.Body.Place}
}

// isBlocked reports whether public access blocks of the bucket or of the account hold back
// what the setting names.
func (g *graph) isBlocked(bucket *terraform.Resource, setting string) truth {
	// The block of the account covers every bucket, so it counts even where the bucket is unknown.
	blocks := g.types["aws_s3_account_public_access_block"]
	if bucket != nil {
		for _, other := range g.types["aws_s3_bucket_public_access_block"] {
			if t := g.refersTo(other, "bucket", bucket); t == yes {
				// A clone: the list belongs to the graph and is shared by all rules.
				blocks = append(slices.Clone(blocks), other)
			} else if t == unknown {
				return unknown
			}
		}
	}
	// One block that is certain decides; a value from a variable only makes the result unknown.
	out := no
	for _, b := range blocks {
		switch b.Body.Value(setting) {
		case true, "true":
			return yes
		case terraform.Unknown{}:
			out = unknown
		}
	}
	return out
}

// bucketOf returns the bucket that the argument of a resource names, or nil when
// it is not part of the code.
func (g *graph) bucketOf(r *terraform.Resource) *terraform.Resource {
	for _, b := range g.types["aws_s3_bucket"] {
		if g.refersTo(r, "bucket", b) == yes {
			return b
		}
	}
	return nil
}

// bucketPolicy reports buckets that a policy opens to everybody. The policy can be a resource of
// its own or an argument of the bucket. restrict_public_buckets and block_public_policy each
// suffice to keep the public out.
func bucketPolicy(g *graph, report func(Match)) {
	for _, kind := range []string{"aws_s3_bucket_policy", "aws_s3_bucket"} {
		for _, r := range g.types[kind] {
			list, _ := parseStatements(r.Body.Value("policy"))
			if !slices.ContainsFunc(list, func(s statement) bool {
				return s.allows() && s.isPublic() && len(s.Condition) == 0
			}) {
				continue
			}
			bucket := r
			if kind == "aws_s3_bucket_policy" {
				bucket = g.bucketOf(r)
			}
			// yes and unknown both suppress the finding: only a bucket that is surely open is
			// reported.
			if max(g.isBlocked(bucket, "restrict_public_buckets"), g.isBlocked(bucket, "block_public_policy")) != no {
				continue
			}
			m := matchAt(r, "policy")
			m.Message = r.Address + ": The policy lets everybody in, and no public access block holds it back."
			if bucket != nil && bucket != r {
				m.Steps = append(m.Steps, pathStep("this bucket is public", bucket))
			}
			report(m)
		}
	}
}

// bucketACL reports buckets that an ACL opens: a canned one ("public-read", "authenticated-read")
// or a grant to the groups AllUsers and AuthenticatedUsers. The latter is anybody with an AWS
// account of their own, thus public too.
func bucketACL(g *graph, report func(Match)) {
	for _, kind := range []string{"aws_s3_bucket_acl", "aws_s3_bucket"} {
		for _, r := range g.types[kind] {
			acl, _ := r.Body.Value("acl").(string)
			public := strings.HasPrefix(acl, "public-") || acl == "website" || acl == "authenticated-read"
			for _, h := range r.Body.Lookup("access_control_policy.grant.grantee.uri") {
				if uri, ok := h.Value.(string); ok && (strings.HasSuffix(uri, "/global/AllUsers") ||
					strings.HasSuffix(uri, "/global/AuthenticatedUsers")) {
					public = true
				}
			}
			bucket := r
			if kind == "aws_s3_bucket_acl" {
				bucket = g.bucketOf(r)
			}
			if !public || max(g.isBlocked(bucket, "ignore_public_acls"),
				g.isBlocked(bucket, "block_public_acls")) != no {
				continue
			}
			m := matchAt(r, "acl")
			m.Message = r.Address + ": The ACL lets everybody in, and no public access block holds it back."
			if bucket != nil && bucket != r {
				m.Steps = append(m.Steps, pathStep("this bucket is public", bucket))
			}
			report(m)
		}
	}
}

// bucketTransport reports bucket policies without a Deny on aws:SecureTransport: without it S3
// accepts plain HTTP. The condition operator and its value are not analyzed, because the name in a
// Deny statement is clear enough.
func bucketTransport(g *graph, report func(Match)) {
	for _, r := range g.types["aws_s3_bucket_policy"] {
		list, sure := parseStatements(r.Body.Value("policy"))
		// A part of the policy is unknown and may contain the denial.
		if !sure {
			continue
		}
		denies := slices.ContainsFunc(list, func(s statement) bool {
			if s.allows() {
				return false
			}
			for _, values := range s.Condition {
				for name := range values {
					if strings.EqualFold(name, "aws:SecureTransport") {
						return true
					}
				}
			}
			return false
		})
		if !denies {
			m := matchAt(r, "policy")
			m.Message = r.Address + ": The policy does not refuse requests without TLS."
			report(m)
		}
	}
}

// opening is what a group rule lets in.
type opening struct {
	// the port range, both inclusive; -1 when it is not known
	from, to float64
	// open to 0.0.0.0/0 or ::/0
	world bool
	// the security groups whose members may connect
	groups []*terraform.Resource
	// the ingress block or rule
	place finding.Location
}

// listOpenings returns what a security group lets in, by its own blocks and by separate
// rules.
func (g *graph) listOpenings(group *terraform.Resource) []opening {
	var out []opening
	for _, b := range group.Body.All("ingress") {
		if !b.Unsure {
			out = append(out, parseOpening(b, "security_groups"))
		}
	}
	for _, r := range g.listReferrers("aws_security_group_rule", "security_group_id", group) {
		if r.Body.Value("type") == "ingress" {
			out = append(out, parseOpening(r.Body, "source_security_group_id"))
		}
	}
	for _, r := range g.listReferrers("aws_vpc_security_group_ingress_rule", "security_group_id", group) {
		out = append(out, parseOpening(r.Body, "referenced_security_group_id"))
	}
	return out
}

// parseOpening reads an ingress block or rule: its ports, and whether it is open to the
// world.
func parseOpening(b *terraform.Block, sources string) opening {
	o := opening{from: -1, to: -1, place: b.Place}
	from, ok := b.Value("from_port").(float64)
	to, ok2 := b.Value("to_port").(float64)
	if ok && ok2 {
		o.from, o.to = from, to
	}
	// Protocol -1 means all protocols; AWS then ignores the ports.
	for _, name := range []string{"protocol", "ip_protocol"} {
		if p := b.Value(name); p == "-1" || p == "all" || p == -1.0 {
			o.from, o.to = 0, 65535
		}
	}
	for _, name := range []string{"cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6"} {
		v := b.Value(name)
		if containsValue(v, "0.0.0.0/0") == yes || containsValue(v, "::/0") == yes {
			o.world = true
		}
	}
	if a := b.Attributes[sources]; a != nil {
		for _, r := range a.Refs {
			if r.Type == "aws_security_group" {
				o.groups = append(o.groups, r)
			}
		}
	}
	return o
}

// guardedPorts lists ports that are not for the users of a site.
var guardedPorts = []struct {
	port float64
	what string
}{{22, "SSH"}, {3389, "RDP"}, {3306, "MySQL"}, {5432, "PostgreSQL"}, {1433, "SQL Server"}, {6379, "Redis"},
	{27017, "MongoDB"}, {9200, "Elasticsearch"}, {11211, "memcached"}, {2375, "Docker"}}

// balancerReach reports the chain: a balancer that faces the internet, its group open to the world,
// and a second group that admits the first one to an administration or database port. Each part
// alone is common and harmless; together they expose the port.
func balancerReach(g *graph, report func(Match)) {
	for _, kind := range []string{"aws_lb", "aws_alb", "aws_elb"} {
		for _, lb := range g.types[kind] {
			// The argument is false by default: a balancer without it faces the internet.
			internal := lb.Body.Value("internal")
			if internal == true || internal == (terraform.Unknown{}) {
				continue
			}
			a := lb.Body.Attributes["security_groups"]
			if a == nil {
				continue
			}
			for _, front := range a.Refs {
				if front.Type == "aws_security_group" &&
					slices.ContainsFunc(g.listOpenings(front), func(o opening) bool { return o.world }) {
					g.reportBehind(lb, front, report)
				}
			}
		}
	}
}

// reportBehind reports the groups that take too much from the balancer's group.
func (g *graph) reportBehind(lb, front *terraform.Resource, report func(Match)) {
	for _, group := range g.types["aws_security_group"] {
		for _, o := range g.listOpenings(group) {
			if group == front || !slices.Contains(o.groups, front) || o.from < 0 {
				continue
			}
			what := ""
			for _, p := range guardedPorts {
				if o.from <= p.port && p.port <= o.to {
					what = fmt.Sprintf("%s (port %d)", p.what, int(p.port))
					break
				}
			}
			if what == "" {
				continue
			}
			m := Match{Resource: group, Place: o.place, Message: fmt.Sprintf("%s: The group takes %s from the group "+
				"of %s, which faces the internet.", group.Address, what, lb.Address)}
			m.Steps = append(m.Steps, pathStep("the balancer faces the internet", lb),
				pathStep("its group admits everybody", front))
			report(m)
		}
	}
}

// groupUnused reports security groups that no resource refers to. Rules of the group itself do not
// count as a use. In a module with outputs, or one that another module calls, the use may lie
// outside of the analyzed code.
func groupUnused(g *graph, report func(Match)) {
	for _, r := range g.types["aws_security_group"] {
		used := len(r.Module.Outputs) > 0 || r.Module.Address != ""
		for _, other := range g.named[r] {
			if other != r && other.Type != "aws_security_group_rule" &&
				!strings.HasPrefix(other.Type, "aws_vpc_security_group_") {
				used = true
			}
		}
		if !used {
			report(Match{Resource: r, Message: r.Address + ": Nothing uses the security group."})
		}
	}
}
