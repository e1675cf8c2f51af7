package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"merlon/internal/finding"
)

// This file writes and reads the message stream: one JSON object per line with exactly one
// member, whose name is the kind of message. The sandboxed scan writes it and the worker reads
// it, so it is the trust boundary between the two: the reader validates every line.

// message is a line of the stream.
type message struct {
	Config   *Config          `json:"config,omitempty"`
	Progress *Progress        `json:"progress,omitempty"`
	Rule     *finding.Rule    `json:"rule,omitempty"`
	Package  *finding.Package `json:"package,omitempty"`
	Finding  *finding.Finding `json:"finding,omitempty"`
	Status   *Status          `json:"status,omitempty"`

	Operation *finding.Operation `json:"operation,omitempty"`
}

// countKinds counts the members that are set.
func (m *message) countKinds() int {
	return countTrue(m.Config != nil, m.Progress != nil, m.Rule != nil, m.Package != nil, m.Finding != nil,
		m.Operation != nil, m.Status != nil)
}

// Encode returns a Handler that writes the stream to w.
func Encode(w io.Writer) Handler {
	return &encoder{w: w}
}

// encoder writes messages to a stream.
type encoder struct {
	w    io.Writer
	line bytes.Buffer
}

func (e *encoder) Config(m *Config) error           { return e.writeMessage(message{Config: m}) }
func (e *encoder) Progress(m *Progress) error       { return e.writeMessage(message{Progress: m}) }
func (e *encoder) Rule(m *finding.Rule) error       { return e.writeMessage(message{Rule: m}) }
func (e *encoder) Package(m *finding.Package) error { return e.writeMessage(message{Package: m}) }
func (e *encoder) Finding(m *finding.Finding) error { return e.writeMessage(message{Finding: m}) }
func (e *encoder) Status(m *Status) error           { return e.writeMessage(message{Status: m}) }

func (e *encoder) Operation(m *finding.Operation) error { return e.writeMessage(message{Operation: m}) }

// writeMessage writes one line. A message that a reader would reject is an error here, where
// its cause is known.
func (e *encoder) writeMessage(m message) error {
	e.line.Reset()
	enc := json.NewEncoder(&e.line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if e.line.Len() > MaxMessage {
		return fmt.Errorf("a message of %d bytes exceeds the %d that a reader takes", e.line.Len(), MaxMessage)
	}
	_, err := e.w.Write(e.line.Bytes())
	return err
}

// MaxMessage bounds a line of the stream, in bytes.
const MaxMessage = 8 << 20

// ErrIncomplete means that a stream ended before every analyzer had its status: the absence of
// a finding in it has no meaning.
var ErrIncomplete = errors.New("the scan's messages end before every analyzer has ended")

// Decode reads a stream and sends each message to h. A malformed, unknown or oversized line is
// an error with its number; an incomplete stream ends with ErrIncomplete.
func Decode(r io.Reader, h Handler) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), MaxMessage)
	d := decoder{h: h}
	for n := 1; lines.Scan(); n++ {
		if err := d.decodeLine(lines.Bytes()); err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the scan's messages: %w", err)
	}
	if d.open == nil || len(d.open) > 0 {
		return ErrIncomplete
	}
	return nil
}

// decoder validates the order of messages.
type decoder struct {
	h    Handler
	open map[string]bool // analyzers without a status; nil before Config
}

// decodeLine validates one line and sends its message to the handler: the first message is
// Config, and each of its analyzers has one status.
func (d *decoder) decodeLine(b []byte) error {
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.countKinds() != 1 {
		return errors.New("a message has exactly one known member")
	}
	if m.Config != nil {
		return d.openStream(m.Config)
	}
	if d.open == nil {
		return errors.New("the first message is not config")
	}
	switch {
	case m.Progress != nil:
		return d.h.Progress(m.Progress)
	case m.Rule != nil:
		return d.h.Rule(m.Rule)
	case m.Package != nil:
		return d.h.Package(m.Package)
	case m.Finding != nil:
		return d.h.Finding(m.Finding)
	case m.Operation != nil:
		return d.h.Operation(m.Operation)
	default:
		if !d.open[m.Status.Analyzer] {
			return fmt.Errorf("status of %q, which is not open", m.Status.Analyzer)
		}
		delete(d.open, m.Status.Analyzer)
		return d.h.Status(m.Status)
	}
}

// openStream records the analyzers whose statuses the stream must contain.
func (d *decoder) openStream(c *Config) error {
	if d.open != nil {
		return errors.New("a second config")
	}
	d.open = map[string]bool{}
	for _, id := range c.Analyzers {
		d.open[id] = true
	}
	return d.h.Config(c)
}
