package sarif

import "time"

// This file holds the part of SARIF's object model that reports use. The
// comments of the standard (section 3) apply.

// tool is the tool that made the run (section 3.18).
type tool struct {
	Driver component `json:"driver"`
}

// component is the driver of the tool with its rules (section 3.19).
type component struct {
	Name        string                `json:"name"`
	Version     string                `json:"version,omitempty"`
	Information string                `json:"informationUri,omitempty"` // of the service that wrote the report
	Rules       []reportingDescriptor `json:"rules"`
}

// reportingDescriptor is a rule (section 3.49).
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

// configuration is the default configuration of a rule (section 3.50).
type configuration struct {
	Level string `json:"level"`
}

// text is a message with an optional Markdown form (section 3.12).
type text struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

// resultObject is a finding (section 3.27).
type resultObject struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Rank         float64           `json:"rank"`
	Message      text              `json:"message"`
	Locations    []location        `json:"locations"`
	Related      []location        `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
	CodeFlows    []codeFlow        `json:"codeFlows,omitempty"`
	Fixes        []fix             `json:"fixes,omitempty"`
	Suppressions []suppression     `json:"suppressions,omitempty"`
	Baseline     string            `json:"baselineState,omitempty"`
	Provenance   *provenance       `json:"provenance,omitempty"`
	Request      *webRequest       `json:"webRequest,omitempty"`
	Response     *webResponse      `json:"webResponse,omitempty"`
	Properties   map[string]any    `json:"properties,omitempty"`
}

// A fix is a proposed change (section 3.55).
type fix struct {
	Description *text            `json:"description,omitempty"`
	Changes     []artifactChange `json:"artifactChanges"`
}

// An artifactChange is the change of a file (section 3.56).
type artifactChange struct {
	Artifact     artifactAddress `json:"artifactLocation"`
	Replacements []replacement   `json:"replacements"`
}

// A replacement replaces a region of a file (section 3.57).
type replacement struct {
	Deleted  region `json:"deletedRegion"`
	Inserted *text  `json:"insertedContent,omitempty"`
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

// location is where a finding was detected (section 3.28).
type location struct {
	Physical physicalLocation `json:"physicalLocation"`
	Message  *text            `json:"message,omitempty"`
}

// physicalLocation is a location in a file (section 3.29).
type physicalLocation struct {
	Artifact artifactAddress `json:"artifactLocation"`
	Region   *region         `json:"region,omitempty"`
	Context  *region         `json:"contextRegion,omitempty"`
}

// artifactAddress is the URI of a file, relative to the scanned folder (section 3.4).
type artifactAddress struct {
	URI         string `json:"uri,omitempty"`
	Base        string `json:"uriBaseId,omitempty"`
	Description *text  `json:"description,omitempty"`
}

// region is a part of a file (section 3.30).
type region struct {
	StartLine   int   `json:"startLine"`
	StartColumn int   `json:"startColumn,omitempty"`
	EndLine     int   `json:"endLine,omitempty"`
	EndColumn   int   `json:"endColumn,omitempty"`
	Snippet     *text `json:"snippet,omitempty"`
}

// codeFlow is the data flow of a finding (section 3.36).
type codeFlow struct {
	ThreadFlows []threadFlow `json:"threadFlows"`
}

// threadFlow is the sequence of its steps (section 3.37).
type threadFlow struct {
	Locations []threadFlowLocation `json:"locations"`
}

// threadFlowLocation is one step (section 3.38).
type threadFlowLocation struct {
	Location location `json:"location"`
	Kinds    []string `json:"kinds,omitempty"`
}

// automationDetails identifies runs of one kind (section 3.17): code hosts replace the results of
// the last upload with the same ID, and keep those of others.
type automationDetails struct {
	ID string `json:"id"`
}

// invocation describes the scan and its coverage gaps (section 3.20).
type invocation struct {
	Successful    bool           `json:"executionSuccessful"`
	Start         time.Time      `json:"startTimeUtc"`
	Notifications []notification `json:"toolExecutionNotifications"`
}

// notification is a coverage gap of an analyzer (section 3.58).
type notification struct {
	Descriptor *reference     `json:"descriptor,omitempty"`
	Level      string         `json:"level"`
	Message    text           `json:"message"`
	Locations  []location     `json:"locations,omitempty"`
	Properties map[string]any `json:"properties,omitempty"`
}

// reference names the descriptor of a notification (section 3.52).
type reference struct {
	ID string `json:"id"`
}
