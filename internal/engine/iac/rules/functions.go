package rules

import "merlon/internal/finding"

// function is a rule that follows resources or reads policies.
type function struct {
	rule *finding.Rule
	find func(*graph, func(Match))
}

// functions lists them.
var functions []function
