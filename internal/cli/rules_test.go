package cli

import "testing"

// The manual of rules is a transcript, too.
func TestRulesTranscript(t *testing.T) { replayTranscript(t, "testdata/rules.txt") }
