package finding

import "time"

// This file holds what is seen of a running application: the evidence of a
// dynamic finding, and what became of each operation.

// Live is the evidence of a flaw that was seen in a running application.
type Live struct {
	// of the operation, without the values of its parameters, but for one that chooses the page of a program
	URL    string `json:"url"`
	Method string `json:"method"`
	// its name, the pointer of a JSON leaf (RFC 6901), or the number of a segment of the path
	Parameter string `json:"parameter,omitempty"`
	// where the parameter is: "query", "path", "form", "json", "header", "cookie", …
	In       string   `json:"in,omitempty"`
	Payload  string   `json:"payload,omitempty"`  // the value that proves it
	Identity string   `json:"identity,omitempty"` // of the target, as whom it was seen; empty: nobody
	Proof    []string `json:"proof"`              // what was done and what it showed, in order, for people
	// Exchanges are requests with their answers, in the order in which they were sent.
	Exchanges []Exchange `json:"exchanges"`
	Curl      string     `json:"curl,omitempty"` // a command that repeats the proving request; secrets are left out
	// Code is where the source has the operation, and the flaw if static analysis sees
	// it too; nil where the source is not known.
	Code *Code `json:"code,omitempty"`
}

// Code is the place of a live finding in the source.
type Code struct {
	Handler Location `json:"handler"` // the function that answers the operation
	// Flaw is set when static analysis sees the same flaw: the operation, the parameter
	// and the class (CWE) agree. The steps of the finding are then its path.
	Flaw *CodeFinding `json:"flaw,omitempty"`
}

// A CodeFinding names a finding of static analysis.
type CodeFinding struct {
	RuleID      string      `json:"ruleId"`
	Location    Location    `json:"location"`
	Fingerprint Fingerprint `json:"fingerprint"`
}

// An EntryPoint is the operation through which the data of a finding in source code comes
// in, as the code declares it.
type EntryPoint struct {
	Method    string `json:"method,omitempty"`    // empty: any
	Path      string `json:"path"`                // below the application, parameters in braces
	Parameter string `json:"parameter,omitempty"` // "query:name"; empty: not a single one
}

// An Exchange is a request with its answer as text, both cut to some KiB;
// credentials in them are replaced by Redacted.
type Exchange struct {
	Note     string        `json:"note,omitempty"` // what it is for
	Request  string        `json:"request"`
	Response string        `json:"response"`
	Duration time.Duration `json:"duration"` // nanoseconds to the end of the answer
}

// An Operation is one thing that a running application offers, with what became
// of it in the scan.
type Operation struct {
	Method string `json:"method"`
	// absolute, or of a declared one its path below the application; values in the path replaced by names in braces
	// where a description or the code names them
	URL string `json:"url"`
	ID  string `json:"id,omitempty"` // operationId of a description, or the field of a GraphQL schema
	// what told of it: "link", "form", "script", "robots", "sitemap", "browser", "openapi", "graphql", "postman",
	// "har", "code", …
	Origin     string   `json:"origin"`
	Outcome    Outcome  `json:"outcome"`      // how far the scan came
	Status     int      `json:"status"`       // of the last answer; 0: none
	Reason     string   `json:"reason"`       // why it was refused or not reached; empty when reached
	As         string   `json:"as,omitempty"` // the identity of the last answer
	Parameters []string `json:"parameters"`   // "query:id", "json:/name", in the order of the request
	Requests   int      `json:"requests"`     // sent for it
	// Place is the path by which findings of it are named; empty: it was not examined to
	// its end.
	FindingPath string `json:"place,omitempty"`
	// Created are the objects that the scan has created by it.
	Created []CreatedObject `json:"created,omitempty"`
	// Authorization says whether it was tested that another user is kept out of what the
	// operation of an API names; nil: of a web application.
	Authorization *Authorization `json:"authorization,omitempty"`
	// Code is the function that answers, where the source is known.
	Code *Location `json:"code,omitempty"`
}

// Authorization says whether an operation was tested with the object of another user.
type Authorization struct {
	Tested bool   `json:"tested"`           // what was found is among the findings
	Reason string `json:"reason,omitempty"` // why it was not tested; empty when it was
}

// A CreatedObject is an object that a scan has created in the application.
type CreatedObject struct {
	Mark    string `json:"mark"`             // the text by which it is found: what the scan typed holds it
	Where   string `json:"where,omitempty"`  // address at which it can be seen; empty: the application did not tell
	Removed bool   `json:"removed"`          // in the end, as was verified
	Reason  string `json:"reason,omitempty"` // why it was not removed
}

// An Outcome says how far a scan came with an operation.
type Outcome string

const (
	Reached    Outcome = "reached"     // it answered, and was examined
	Refused    Outcome = "refused"     // it answered that it will not: not signed in, not allowed, a malformed request
	NotReached Outcome = "not-reached" // it was not asked, or did not answer
	Declared   Outcome = "declared"    // the code declares it; a scan of source asks nobody
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{Reached, Refused, NotReached, Declared}
