package sarif

import "time"

// This file holds the part of SARIF's object model that reports use. The
// comments of the standard (section 3) apply.

type tool struct {
	Driver component `json:"driver"`
}

type component struct {
	Name    string                `json:"name"`
	Version string                `json:"version,omitempty"`
	Rules   []reportingDescriptor `json:"rules"`
}

type reportingDescriptor struct {
	ID               string         `json:"id"`
	Name             string         `json:"name,omitempty"`
	ShortDescription *text          `json:"shortDescription,omitempty"`
	FullDescription  *text          `json:"fullDescription,omitempty"`
	Help             *text          `json:"help,omitempty"`
	HelpURI          string         `json:"helpUri,omitempty"`
	Configuration    configuration  `json:"defaultConfiguration"`
	Properties       map[string]any `json:"properties,omitempty"`
}

type configuration struct {
	Level string `json:"level"`
}

type text struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type resultObject struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      text              `json:"message"`
	Locations    []location        `json:"locations"`
	Related      []location        `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
	CodeFlows    []codeFlow        `json:"codeFlows,omitempty"`
	Suppressions []suppression     `json:"suppressions,omitempty"`
	Baseline     string            `json:"baselineState,omitempty"`
	Provenance   *provenance       `json:"provenance,omitempty"`
	Request      *webRequest       `json:"webRequest,omitempty"`
	Response     *webResponse      `json:"webResponse,omitempty"`
	Properties   map[string]any    `json:"properties,omitempty"`
}

// A provenance says when a result was seen (section 3.48).
type provenance struct {
	First time.Time `json:"firstDetectionTimeUtc"`
}

// A suppression says why nothing is to be done about a result (section 3.35).
type suppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification,omitempty"`
}

type location struct {
	Physical physicalLocation `json:"physicalLocation"`
	Message  *text            `json:"message,omitempty"`
}

type physicalLocation struct {
	Artifact artifactAddress `json:"artifactLocation"`
	Region   *region         `json:"region,omitempty"`
	Context  *region         `json:"contextRegion,omitempty"`
}

type artifactAddress struct {
	URI         string `json:"uri,omitempty"`
	Base        string `json:"uriBaseId,omitempty"`
	Description *text  `json:"description,omitempty"`
}

type region struct {
	StartLine   int   `json:"startLine"`
	StartColumn int   `json:"startColumn,omitempty"`
	EndLine     int   `json:"endLine,omitempty"`
	EndColumn   int   `json:"endColumn,omitempty"`
	Snippet     *text `json:"snippet,omitempty"`
}

type codeFlow struct {
	ThreadFlows []threadFlow `json:"threadFlows"`
}

type threadFlow struct {
	Locations []threadFlowLocation `json:"locations"`
}

type threadFlowLocation struct {
	Location location `json:"location"`
	Kinds    []string `json:"kinds,omitempty"`
}

type invocation struct {
	Successful    bool           `json:"executionSuccessful"`
	Start         time.Time      `json:"startTimeUtc"`
	Notifications []notification `json:"toolExecutionNotifications"`
}

type notification struct {
	Descriptor *reference     `json:"descriptor,omitempty"`
	Level      string         `json:"level"`
	Message    text           `json:"message"`
	Locations  []location     `json:"locations,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
}

type reference struct {
	ID string `json:"id"`
}
