// Package jenkins finds vulnerabilities in Jenkinsfiles, declarative and scripted. It reads
// Groovy as words and texts, with the assignments and the steps that matter; it is
// no compiler, and runs nothing.
//
// The language: https://www.jenkins.io/doc/book/pipeline/syntax/
package jenkins

import (
	_ "embed" // the manual
	"path"

	"merlon/internal/document"
	"merlon/internal/engine/cicd/pipeline"
	"merlon/internal/finding"
	"merlon/internal/lazyregexp"
	"merlon/internal/scan"
)

//go:embed doc.md
var doc string

// Analyzer finds vulnerabilities in Jenkinsfiles.
var Analyzer = &scan.Analyzer{
	ID:       "cicd/jenkins",
	Version:  1,
	Analysis: finding.CICD,
	Doc:      doc,
	Rules:    func() ([]*finding.Rule, error) { return Rules.All(), nil },
	Match:    func(p string) bool { return named.MatchString(path.Base(p)) },
	File:     analyzeFile,
}

// named matches the names that people give to Jenkinsfiles.
var named = lazyregexp.New(`(?i)^(?:jenkinsfile(?:[._-][\w.-]+)?|[\w.-]+[._-]jenkinsfile)$`)

// analyzeFile divides a Jenkinsfile into words and texts and checks it. A file that
// cannot be divided degrades the analyzer.
func analyzeFile(p *scan.FilePass) error {
	if p.Size > pipeline.Limits.Size {
		p.Degrade(scan.Reason{Code: "too-large", Path: p.Path, Message: "is larger than 4 MiB"})
		return nil
	}
	b, err := p.ReadFile()
	if err != nil {
		return err
	}
	tokens, err := tokenize(string(b))
	if f, ok := err.(*syntaxError); ok {
		p.Degrade(scan.Reason{Code: "malformed", Path: p.Path, Line: f.line, Message: f.message})
		return nil
	}
	f := &pipeline.File{Path: p.Path, Source: document.NewSource(b), Rules: Rules, Out: p.Report}
	(&jenkinsfile{file: f, tokens: tokens}).checkFile()
	return nil
}

//go:embed rules.md
var rulesPage string

// Rules are the rules of Jenkins.
var Rules = pipeline.LoadRules("cicd/jenkins", "jenkinsfile", rulesPage)
