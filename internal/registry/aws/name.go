package aws

import (
	"merlon/internal/errs"
	"merlon/internal/lazyregexp"
)

// This file reads Amazon's names: of regions, accounts, roles and keys. What is not
// of these forms is never made part of an address.

// A Region is a place where Amazon runs services. Its partition is the part of
// Amazon that it belongs to, with users of its own: "aws", "aws-cn" or
// "aws-us-gov".
type Region struct {
	Name      string
	Partition string
	suffix    string // of host names
}

// partitions are those that the public network reaches, with the forms of their
// regions' names, as Amazon's tools have them
// (https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html).
var partitions = []struct {
	name, suffix string
	regions      *lazyregexp.Regexp
}{
	{"aws", "amazonaws.com", lazyregexp.New(`^(af|ap|ca|eu|il|me|mx|sa|us)-[a-z]{4,12}-[1-9]$`)},
	{"aws-cn", "amazonaws.com.cn", lazyregexp.New(`^cn-[a-z]{4,12}-[1-9]$`)},
	{"aws-us-gov", "amazonaws.com", lazyregexp.New(`^us-gov-[a-z]{4,12}-[1-9]$`)},
}

// ParseRegion reads the name of a region, such as "eu-west-1". A region that does
// not exist, yet is named like one, is noticed when it is asked.
func ParseRegion(name string) (Region, error) {
	for _, p := range partitions {
		if p.regions.MatchString(name) {
			return Region{name, p.name, p.suffix}, nil
		}
	}
	return Region{}, errs.E(errs.Invalid, "awsRegion is not the name of a region of Amazon, such as eu-west-1")
}

// publicURL is the public address of a service.
func (r Region) publicURL(service string) string {
	if service == "ecr" {
		service = "api.ecr"
	}
	return "https://" + service + "." + r.Name + "." + r.suffix + "/"
}

// Registry is the host that an account's images are pulled from.
func (r Region) Registry(account string) string {
	return account + ".dkr.ecr." + r.Name + "." + r.suffix
}

var (
	account   = lazyregexp.New(`^[0-9]{12}$`)
	keyID     = lazyregexp.New(`^[A-Z0-9]{16,128}$`)
	role      = lazyregexp.New(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):role((?:/[\w+=,.@-]{1,64}){1,10})$`)
	principal = lazyregexp.New(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):(?:root|(?:user|role)(?:/[\w+=,.@-]{1,64}){1,10})$`)
)

// IsAccount reports whether the text is the number of an account.
func IsAccount(text string) bool { return account.MatchString(text) }

// IsKeyID reports whether the text is the public part of a key.
func IsKeyID(text string) bool { return keyID.MatchString(text) }

// An Identity is a role or a user: what it is named, and whose it is.
type Identity struct {
	ARN       string
	Partition string
	Account   string
}

// ParseRole reads the name of a role: "arn:aws:iam::123456789012:role/name".
func ParseRole(arn string) (Identity, error) {
	if i, ok := parseIdentity(role, arn); ok {
		return i, nil
	}
	return Identity{}, errs.E(errs.Invalid, "roleArn is not the name of a role, such as "+
		"arn:aws:iam::123456789012:role/name")
}

// ParsePrincipal reads the name of a role, of a user, or of a whole account
// ("arn:aws:iam::123456789012:root").
func ParsePrincipal(arn string) (Identity, error) {
	if i, ok := parseIdentity(principal, arn); ok {
		return i, nil
	}
	return Identity{}, errs.E(errs.Invalid, "%q is not the name of a role or a user of Amazon, such as "+
		"arn:aws:iam::123456789012:user/name", arn)
}

// maxARN bounds the names of roles and users.
const maxARN = 600

// parseIdentity reads a name of the form, which says partition and account.
func parseIdentity(form *lazyregexp.Regexp, arn string) (Identity, bool) {
	if len(arn) > maxARN {
		return Identity{}, false
	}
	m := form.FindStringSubmatch(arn)
	if m == nil {
		return Identity{}, false
	}
	return Identity{arn, m[1], m[2]}, true
}
