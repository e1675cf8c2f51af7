package template

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yamldocument "merlon/internal/document"

	"go.yaml.in/yaml/v3"
)

// This file reads the text of a template. Whoever wrote it may be hostile.

// Limits of one template.
const (
	maxTemplate = 2 << 20 // bytes
	maxDepth    = 100     // values inside each other, aliases followed
	maxValues   = 200_000 // values, aliases followed
)

// A document is a template as it is written.
type document struct {
	ID            string    `yaml:"id"`
	Info          info      `yaml:"info"`
	Variables     yaml.Node `yaml:"variables"`
	Constants     yaml.Node `yaml:"constants"`
	HTTP          []section `yaml:"http"`
	Requests      []section `yaml:"requests"` // the old name
	Flow          string    `yaml:"flow"`
	SelfContained bool      `yaml:"self-contained"`
	StopAtFirst   bool      `yaml:"stop-at-first-match"`
}

// info is what a template says of itself.
type info struct {
	Name           string         `yaml:"name"`
	Severity       string         `yaml:"severity"`
	Description    string         `yaml:"description"`
	Impact         string         `yaml:"impact"`
	Remediation    string         `yaml:"remediation"`
	Reference      textList       `yaml:"reference"`
	Tags           textList       `yaml:"tags"`
	Classification classification `yaml:"classification"`
}

// classification names the known weakness and the known vulnerability that a template
// looks for.
type classification struct {
	CWE textList `yaml:"cwe-id"`
	CVE textList `yaml:"cve-id"`
}

// textList is a list that may be written as one text with commas.
type textList []string

// UnmarshalYAML reads either form.
func (t *textList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		for part := range strings.SplitSeq(n.Value, ",") {
			if part = strings.TrimSpace(part); part != "" && n.Tag != "!!null" {
				*t = append(*t, part)
			}
		}
		return nil
	}
	var list []string
	if err := n.Decode(&list); err != nil {
		return err
	}
	*t = list
	return nil
}

// valueList is a list that may be written as one value.
type valueList []string

// UnmarshalYAML reads either form.
func (s *valueList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*s = valueList{n.Value}
		return nil
	}
	var list []string
	if err := n.Decode(&list); err != nil {
		return err
	}
	*s = list
	return nil
}

// A section is one of the parts of a template that send requests over HTTP. Members
// have the names and the meaning that the format gives them; what is a list there may
// be written as one value.
type section struct {
	ID           string               `yaml:"id"`
	Name         string               `yaml:"name"`
	Method       string               `yaml:"method"`
	Path         valueList            `yaml:"path"`
	Raw          valueList            `yaml:"raw"`
	Body         string               `yaml:"body"`
	Headers      map[string]string    `yaml:"headers"`
	Attack       string               `yaml:"attack"`
	Payloads     map[string]yaml.Node `yaml:"payloads"`
	Matchers     []match              `yaml:"matchers"`
	Condition    string               `yaml:"matchers-condition"`
	Extractors   []extract            `yaml:"extractors"`
	Stop         bool                 `yaml:"stop-at-first-match"`
	Redirects    bool                 `yaml:"redirects"`
	Host         bool                 `yaml:"host-redirects"`
	MaxRedirects int                  `yaml:"max-redirects"`
	CookieReuse  *bool                `yaml:"cookie-reuse"`
	NoCookie     bool                 `yaml:"disable-cookie"`
	ReqCondition bool                 `yaml:"req-condition"`
	SkipCheck    bool                 `yaml:"skip-variables-check"`
	NoMerge      bool                 `yaml:"disable-path-automerge"`
	MaxSize      int                  `yaml:"max-size"`
	Fuzzing      []fuzzing            `yaml:"fuzzing"`
	Pre          []match              `yaml:"pre-condition"`
	PreOperator  string               `yaml:"pre-condition-operator"`
	Filters      []match              `yaml:"filters"` // the old name
	FiltersAll   string               `yaml:"filters-condition"`
}

// A match is a matcher as it is written. Which members count depends on the type; the
// others are left out.
type match struct {
	Type      string   `yaml:"type"`
	Part      string   `yaml:"part"`
	Name      string   `yaml:"name"`
	Words     []string `yaml:"words"`
	Regex     []string `yaml:"regex"`
	Status    []int    `yaml:"status"`
	Size      []int    `yaml:"size"`
	DSL       []string `yaml:"dsl"`
	Binary    []string `yaml:"binary"`
	Condition string   `yaml:"condition"`
	Negative  bool     `yaml:"negative"`
	Internal  bool     `yaml:"internal"`
	NoCase    bool     `yaml:"case-insensitive"`
	Encoding  string   `yaml:"encoding"`
	All       bool     `yaml:"match-all"`
}

// An extract is an extractor as it is written. Which members count depends on the type,
// as with matchers.
type extract struct {
	Type      string   `yaml:"type"`
	Part      string   `yaml:"part"`
	Name      string   `yaml:"name"`
	Regex     []string `yaml:"regex"`
	Group     int      `yaml:"group"`
	KVal      []string `yaml:"kval"`
	JSON      []string `yaml:"json"`
	XPath     []string `yaml:"xpath"`
	Attribute string   `yaml:"attribute"`
	DSL       []string `yaml:"dsl"`
	Internal  bool     `yaml:"internal"`
	NoCase    bool     `yaml:"case-insensitive"`
}

// fuzzing is a rule that puts payloads into requests that were found. It names the
// parameters that it changes by their part, their names and their values.
type fuzzing struct {
	Part         string    `yaml:"part"`
	Parts        []string  `yaml:"parts"`
	Type         string    `yaml:"type"`
	Mode         string    `yaml:"mode"`
	Keys         []string  `yaml:"keys"`
	KeysRegex    []string  `yaml:"keys-regex"`
	Values       []string  `yaml:"values"`
	ReplaceRegex string    `yaml:"replace-regex"`
	Fuzz         yaml.Node `yaml:"fuzz"`
}

// otherProtocols are members of a template that ask by other protocols or run code. The
// scan speaks HTTP alone.
var otherProtocols = []string{"dns", "tcp", "network", "ssl", "file", "headless", "websocket", "whois", "code", "javascript",
	"workflows", "multi-protocol"}

// ignoredMembers are members of sections that change nothing here.
var ignoredMembers = []string{"threads", "iterate-all", "digest-username", "digest-password", "unsafe", "pipeline", "race",
	"race_count", "signature", "analyzer", "global-matchers",
	"self-contained", "read-all", "pipeline-concurrent-connections", "pipeline-requests-per-connection"}

// unsupportedMembers are those of them that mean something that is not done.
var unsupportedMembers = map[string]string{"digest-username": "HTTP digest", "unsafe": "malformed requests (unsafe)",
	"pipeline": "pipelines", "race": "races", "signature": "signed requests",
	"analyzer": "analyzers", "global-matchers": "global matchers", "self-contained": "requests to other hosts " +
		"(self-contained)", "iterate-all": "iterate-all"}

// readTemplate reads the text of a template. Aliases are followed within limits, so
// that a small document cannot become a large one. What a template cannot do is told
// before its values are read.
func readTemplate(text []byte) (*document, error) {
	if len(text) > maxTemplate {
		return nil, fmt.Errorf("the template has more than %d MiB", maxTemplate>>20)
	}
	r := yamldocument.NewReader(text)
	r.Depth, r.Values = maxDepth, maxValues
	top, err := r.Followed()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the template is empty")
	case err != nil:
		return nil, err
	case top.Kind != yaml.MappingNode:
		return nil, errors.New("not a template: a map is needed")
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		switch key := top.Content[i].Value; {
		case slices.Contains(otherProtocols, key):
			return nil, unsupported("the protocol " + key)
		case key == "http" || key == "requests":
			if err := refuseUnknownMembers(top.Content[i+1]); err != nil {
				return nil, err
			}
		}
	}
	var d document
	if err := top.Decode(&d); err != nil {
		return nil, fmt.Errorf("not a template: %s",
			strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	return &d, nil
}

// unsupported says what of the format is not done here.
type unsupported string

// Error implements error.
func (u unsupported) Error() string { return "uses " + string(u) }

// knownMembers are the members of a section.
var knownMembers = []string{"id", "name", "method", "path", "raw", "body", "headers", "attack", "payloads", "matchers",
	"matchers-condition", "extractors", "stop-at-first-match",
	"redirects", "host-redirects", "max-redirects", "cookie-reuse", "disable-cookie", "req-condition",
	"skip-variables-check", "disable-path-automerge", "max-size", "fuzzing",
	"pre-condition", "pre-condition-operator", "filters", "filters-condition"}

// refuseUnknownMembers refuses what a section says that nobody here understands.
func refuseUnknownMembers(list *yaml.Node) error {
	for _, s := range list.Content {
		if s.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: a map is needed", s.Line)
		}
		for i := 0; i+1 < len(s.Content); i += 2 {
			key, value := s.Content[i].Value, s.Content[i+1].Value
			switch {
			case unsupportedMembers[key] != "" && value != "false":
				return unsupported(unsupportedMembers[key])
			case !slices.Contains(knownMembers, key) && !slices.Contains(ignoredMembers, key):
				return unsupported(fmt.Sprintf("the member %.40q", key))
			}
		}
	}
	return nil
}

// A pair is a name with a text.
type pair struct{ name, text string }

// readPairs reads a map of texts in its order.
func readPairs(n *yaml.Node) ([]pair, error) {
	if n.IsZero() || n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: a map is needed", n.Line)
	}
	var out []pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := n.Content[i+1]
		if value.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a text is needed", value.Line)
		}
		out = append(out, pair{n.Content[i].Value, value.Value})
	}
	return out, nil
}
