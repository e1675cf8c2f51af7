package triage

import (
	"time"

	"merlon/internal/finding"
	"merlon/internal/run"
	"merlon/internal/tenant"
)

// This file describes the numbers that lists and overviews show.

// A Posture is how a project stands on its reference branch. Only findings of
// severities that the project's settings show are counted.
type Posture struct {
	ProjectID  tenant.ProjectID
	Branch     string // the reference branch; empty while nothing was scanned
	Open       map[finding.Severity]int
	RiskScore  int64
	RiskLevel  RiskLevel
	LevelSince time.Time // zero while nothing was scanned
}

// An AnalysisPosture is how a project stands in one analysis.
type AnalysisPosture struct {
	ProjectID tenant.ProjectID
	Analysis  finding.Analysis
	LastScan  time.Time
	Source    run.Source
	Open      map[finding.Severity]int
}

// DateRange are the days from First to Last, both of them.
type DateRange struct{ First, Last time.Time }

// A DayCount is what a branch gained and lost on a day, in a severity.
type DayCount struct {
	ProjectID tenant.ProjectID
	Day       time.Time // midnight UTC
	Severity  finding.Severity
	Opened    int
	Solved    int
}

// A BranchBucket is how many findings of a sort a branch of a project has.
type BranchBucket struct {
	ProjectID tenant.ProjectID
	Branch    string
	Bucket    Bucket
	Count     Count
}
