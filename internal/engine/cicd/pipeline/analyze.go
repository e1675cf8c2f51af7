package pipeline

import (
	"merlon/internal/finding/ruletext"
	"merlon/internal/scan"
)

// AnalyzeFile is what an analyzer does with one file by itself: it reads it and calls
// check. A file that cannot be read degrades the analyzer.
func AnalyzeFile(p *scan.FilePass, rules *ruletext.Set, check func(*File)) error {
	if p.Size > Limits.Size {
		p.Degrade(scan.Reason{Code: "too-large", Path: p.Path, Message: "is larger than 4 MiB"})
		return nil
	}
	b, err := p.ReadFile()
	if err != nil {
		return err
	}
	f, err := ParseFile(p.Path, b, rules, p.Report)
	if err != nil {
		p.Degrade(MalformedReason(p.Path, err))
		return nil
	}
	check(f)
	return nil
}
