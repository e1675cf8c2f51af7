package aws

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
)

// This file writes what an organization needs to make a role that we may assume.

// externalPrefix begins every external identifier of ours.
const externalPrefix = "merlon-"

// encoding writes digests as names that people can compare.
var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewExternalID returns an identifier that no other call returns, and that holds
// for the owner alone: its second half is made with the key from the first and the
// owner. So nobody else can have us assume a role by an identifier that they read
// in its policy
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html).
func NewExternalID(key []byte, owner string) string {
	nonce := strings.ToLower(rand.Text()) // 26 letters of base32
	return externalPrefix + nonce + "-" + bindOwner(key, owner, nonce)
}

// IsExternalID reports whether NewExternalID has made the identifier for the owner.
func IsExternalID(key []byte, owner, id string) bool {
	nonce, bound, ok := strings.Cut(strings.TrimPrefix(id, externalPrefix), "-")
	return ok && strings.HasPrefix(id, externalPrefix) &&
		hmac.Equal([]byte(bound), []byte(bindOwner(key, owner, nonce)))
}

// bindOwner is the second half of an external identifier: a MAC of the first half and the
// owner.
func bindOwner(key []byte, owner, nonce string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(owner + " " + nonce))
	return encoding.EncodeToString(h.Sum(nil)[:16])
}

// document is a policy in Amazon's language
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html).
type document struct {
	Version   string      `json:"Version"`
	Statement []statement `json:"Statement"`
}

// A statement is one rule of a policy.
type statement struct {
	Effect    string                       `json:"Effect"`
	Principal map[string]string            `json:"Principal,omitempty"`
	Action    []string                     `json:"Action"`
	Resource  string                       `json:"Resource,omitempty"`
	Condition map[string]map[string]string `json:"Condition,omitempty"`
}

// policyText writes a policy.
func policyText(s ...statement) string {
	text, err := json.MarshalIndent(document{"2012-10-17", s}, "", "  ")
	if err != nil {
		panic("aws: " + err.Error()) // it holds nothing but texts
	}
	return string(text)
}

// TrustPolicy lets the principal assume a role, for those alone who know the
// external identifier.
func TrustPolicy(p Identity, externalID string) string {
	return policyText(statement{Effect: "Allow", Principal: map[string]string{"AWS": p.ARN},
		Action:    []string{"sts:AssumeRole"},
		Condition: map[string]map[string]string{"StringEquals": {"sts:ExternalId": externalID}}})
}

// PullPolicy allows to list and to pull the images of a region, and nothing else.
// The account is empty where it is not known: a role is for what its own account
// holds.
func PullPolicy(r Region, account string) string {
	if account == "" {
		account = "*"
	}
	return policyText(
		// which knows no resources
		statement{Effect: "Allow", Action: []string{"ecr:GetAuthorizationToken"}, Resource: "*"},
		statement{Effect: "Allow", Action: []string{"ecr:DescribeRepositories", "ecr:DescribeImages",
			"ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"},
			Resource: "arn:" + r.Partition + ":ecr:" + r.Name + ":" + account + ":repository/*"})
}
