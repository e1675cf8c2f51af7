// Package document is what infrastructure code looks like after it was read: a
// tree of values in the form that rules ask, and beside it a tree that says where
// each value is written. Decoders of all formats make documents; rules read them
// and know no format.
package document

import "slices"

// A Platform names what a document describes. The names are those of the query
// library's folders.
type Platform string

const (
	Ansible         Platform = "ansible"
	ARM             Platform = "azureResourceManager" // Bicep, too
	Buildah         Platform = "buildah"
	CICD            Platform = "cicd"
	CloudFormation  Platform = "cloudFormation"
	Compose         Platform = "dockerCompose"
	Crossplane      Platform = "crossplane"
	Dockerfile      Platform = "dockerfile"
	GoogleDeploy    Platform = "googleDeploymentManager"
	GRPC            Platform = "grpc"
	Knative         Platform = "knative"
	Kubernetes      Platform = "k8s" // Helm and Kustomize, too
	OpenAPI         Platform = "openAPI"
	Pulumi          Platform = "pulumi"
	ServerlessFrame Platform = "serverlessFW"
	Terraform       Platform = "terraform"
)

// Platforms lists every platform.
var Platforms = []Platform{
	Ansible, ARM, Buildah, CICD, CloudFormation, Compose, Crossplane, Dockerfile, GoogleDeploy,
	GRPC, Knative, Kubernetes, OpenAPI, Pulumi, ServerlessFrame, Terraform,
}

// A Format is how a document is written.
type Format string

const (
	YAML       Format = "yaml"
	JSON       Format = "json"
	HCL        Format = "hcl"
	Helm       Format = "helm"      // rendered from a template: Text is not what was decoded
	Kustomize  Format = "kustomize" // patched or generated: Text is not what was decoded
	Containers Format = "dockerfile"
	Bicep      Format = "bicep"
	INI        Format = "ini"
	Proto      Format = "proto"
	Shell      Format = "shell"
	Plan       Format = "tfplan"
)

// A Document is one unit of infrastructure code: a manifest, a template, a
// Terraform file with what it evaluates to. It is not changed after it was made.
type Document struct {
	Platform Platform
	Format   Format

	// Path is the written file, relative to the scanned root, with forward slashes.
	Path string

	// Index counts the documents of one file, from 0.
	Index int

	// Unit names the documents that are deployed together and may speak of each
	// other: a Terraform module instance, a chart. Rules that join documents see one
	// unit at a time. Empty means the document stands alone.
	Unit string

	// Variant is the file that makes it one of several forms of what its file describes:
	// the values with which a chart is installed. Empty is the form that it has by itself.
	Variant string

	// Prefix stands before the address of each resource: "module.network.".
	Prefix string

	// Root holds the values: nil, bool, string, int, int64, float64, []any and
	// map[string]any, in the form that the query library expects.
	Root map[string]any

	// Lines says where the values of Root are written.
	Lines *Node

	// Deploys lists the other files of the tree that it deploys as a part of itself.
	Deploys []Deployment

	// Parts lists the other files of the tree that were put into it.
	Parts []string

	// Gaps lists what of it was not followed, and so was not looked at.
	Gaps []Gap

	// Text is the written file. Rules that name what they found by its words look
	// for it here. Nil when the file does not hold what was decoded.
	Text []byte
}

// A Deployment is a use of another file: a nested stack, a linked template, a module.
type Deployment struct {
	Name  string         // of the resource or module that uses it
	Path  string         // of the used file
	Line  int            // of the use
	Given map[string]any // the values of parameters; Unknown where only the deployment knows
}

// A Gap is a reference that was not followed.
type Gap struct {
	Code    string // that of a reason: "unavailable", "malformed", "too-complex"
	Path    string // where the reference is written
	Line    int
	Message string

	// Alone is set when it is none as soon as another document has the file among its
	// parts.
	Alone bool
}

// Unknown stands for a value that is not known before it is deployed.
type Unknown struct{}

// A Node says where one value is written: at its key when it has one, else where
// the value begins.
type Node struct {
	Line   int // from 1; 0 is unknown
	Column int // in characters, from 1; 0 is unknown

	// Path is the file when it is not the document's own: a value that another file
	// brought in.
	Path string

	// Tag is the local tag of a YAML value ("!Ref", "!Sub"), whose meaning Root does
	// not hold.
	Tag string

	// Unknown is set when nobody knows the value before it is deployed: what Root
	// holds is a text that stands for it.
	Unknown bool

	// Made is set on what is not written as such: the place is that of the value which it
	// was made of.
	Made bool

	Fields map[string]*Node // of a map
	Items  []*Node          // of a list
}

// Find goes down the path of keys and indexes ("0", "1") as far as it leads. It
// returns the last node on it and the number of steps that it went.
func (n *Node) Find(path ...string) (*Node, int) {
	for i, step := range path {
		next := n.childOf(step)
		if next == nil {
			return n, i
		}
		n = next
	}
	return n, len(path)
}

// In returns the node with the file in all nodes that name none. The given one is not
// changed.
func (n *Node) In(file string) *Node {
	if n == nil {
		return nil
	}
	own := *n
	if own.Path == "" {
		own.Path = file
	}
	if n.Fields != nil {
		own.Fields = make(map[string]*Node, len(n.Fields))
		for key, below := range n.Fields {
			own.Fields[key] = below.In(file)
		}
	}
	own.Items = slices.Clone(n.Items)
	for i, below := range own.Items {
		own.Items[i] = below.In(file)
	}
	return &own
}

// childOf returns the node below one key or index, or nil.
func (n *Node) childOf(key string) *Node {
	if n == nil {
		return nil
	}
	if next, ok := n.Fields[key]; ok {
		return next
	}
	if i, ok := parseIndex(key); ok && i < len(n.Items) {
		return n.Items[i]
	}
	return nil
}

// parseIndex reads a decimal index.
func parseIndex(s string) (int, bool) {
	if len(s) == 0 || len(s) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// File returns the file in which the node of this document is written.
func (d *Document) File(n *Node) string {
	if n != nil && n.Path != "" {
		return n.Path
	}
	return d.Path
}
