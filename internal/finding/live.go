package finding

import "time"

// This file holds what is seen of a running application: the evidence of a
// dynamic finding, and what became of each operation.

// Live is the evidence of a flaw that was seen in a running application.
type Live struct {
	URL       string   `json:"url"` // of the operation, without the values of its parameters
	Method    string   `json:"method"`
	Parameter string   `json:"parameter,omitempty"` // its name, the pointer of a JSON leaf (RFC 6901), or the number of a segment of the path
	In        string   `json:"in,omitempty"`        // where the parameter is: "query", "path", "form", "json", "header", "cookie", …
	Payload   string   `json:"payload,omitempty"`   // the value that proves it
	Identity  string   `json:"identity,omitempty"`  // of the target, as whom it was seen; empty: nobody
	Proof     []string `json:"proof"`               // what was done and what it showed, in order, for people
	// Exchanges are requests with their answers, in the order in which they were sent.
	Exchanges []Exchange `json:"exchanges"`
	Curl      string     `json:"curl,omitempty"` // a command that repeats the proving request; secrets are left out
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
	Method     string   `json:"method"`
	URL        string   `json:"url"`          // absolute, values in the path replaced by names in braces where a description or the code names them
	ID         string   `json:"id,omitempty"` // operationId of a description, or the field of a GraphQL schema
	Origin     string   `json:"origin"`       // what told of it: "link", "form", "script", "robots", "sitemap", "browser", "openapi", "graphql", "postman", "har", "code", …
	Outcome    Outcome  `json:"outcome"`      // how far the scan came
	Status     int      `json:"status"`       // of the last answer; 0: none
	Reason     string   `json:"reason"`       // why it was refused or not reached; empty when reached
	As         string   `json:"as,omitempty"` // the identity of the last answer
	Parameters []string `json:"parameters"`   // "query:id", "json:/name", in the order of the request
	Requests   int      `json:"requests"`     // sent for it
}

// An Outcome says how far a scan came with an operation.
type Outcome string

const (
	Reached    Outcome = "reached"     // it answered, and was examined
	Refused    Outcome = "refused"     // it answered that it will not: not signed in, not allowed, a malformed request
	NotReached Outcome = "not-reached" // it was not asked, or did not answer
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{Reached, Refused, NotReached}
