// Package errs is the one error type of the program. A package returns an
// Error where the person who asked can do something about it; everything else
// is wrapped with fmt.Errorf and reaches that person only as "internal error".
// The mapping to HTTP stands in package api, the mapping to exit codes in
// package cli; nothing else knows either.
package errs

import (
	"errors"
	"fmt"
)

// A Kind says what class of failure an Error is. The zero value is Internal, so
// that a forgotten kind never tells a stranger too much.
type Kind uint8

const (
	Internal        Kind = iota // our fault; the text is for the log only
	Invalid                     // the request is malformed or breaks a rule
	Unauthenticated             // nobody, or a credential that does not hold
	Forbidden                   // may see it, may not do it
	NotFound                    // does not exist, or may not be seen: one answer
	Conflict                    // the present state does not allow it
	Gone                        // was removed for good
	TooLarge                    // exceeds a size limit
	Misdirected                 // belongs to another region
	TooMany                     // exceeds a rate limit
	NotImplemented              // not built, or not configured, in this deployment
	Unavailable                 // a part we depend on is away; try again
)

// kindNames are the names of kinds in logs.
var kindNames = [...]string{
	"internal", "invalid", "unauthenticated", "forbidden", "not found", "conflict", "gone",
	"too large", "misdirected", "too many", "not implemented", "unavailable",
}

// String returns the name of the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", k)
}

// A Detail names one thing that is wrong with a request, and where.
type Detail struct {
	Location string `json:"location"` // "body.name", "query.page"
	Message  string `json:"message"`
}

// An Error is a failure that says what to tell the person who asked.
type Error struct {
	Kind    Kind
	Message string            // for people; never a secret, never an internal text
	Code    string            // stable machine name, such as "token_exchange_not_allowed"; may be empty
	Details []Detail          // what is wrong where; may be empty
	Members map[string]string // further members of the answer's body, such as the address of a region
	Err     error             // the cause, for the log; may be nil
}

// Error returns the message and the cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// E returns an Error of the kind with a formatted message.
func E(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an Error of the kind with a formatted message for people and err
// as the cause for the log.
func Wrap(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: err}
}

// KindOf returns the kind of the first Error in err's chain, and Internal when
// there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
