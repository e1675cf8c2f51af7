package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"merlon/test/process"
	"merlon/test/sast/score"
)

// Bearer is the Bearer CLI with a folder of its rules.
// Rules is a checkout of the public rules, so that the run needs no network and is repeatable.
type Bearer struct {
	Binary, Rules string
	Timeout       time.Duration
}

// Scan runs it with all of its rules and without its network services.
// Its exit code is 1 for findings by default; --exit-code 0 leaves other codes for errors.
func (b Bearer) Scan(ctx context.Context, dir string) (*Scan, error) {
	args := []string{b.Binary, "scan", dir, "--format", "json", "--quiet", "--exit-code", "0", "--force",
		"--disable-default-rules", "--external-rule-dir", b.Rules, "--disable-version-check", "--hide-progress-bar"}
	out, err := process.Command{Args: args, Timeout: b.Timeout}.Run(ctx)
	if err != nil {
		return nil, err
	}
	findings, err := decodeBearer(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("bearer scan %s: exit code %d: %w: %s", dir, out.Code, err, process.Tail(out.Stderr))
	}
	return &Scan{Findings: findings, Cost: out.Cost}, nil
}

// decodeBearer reads its JSON report: findings by severity. Its SARIF log does not
// name weaknesses.
func decodeBearer(b []byte) ([]score.Finding, error) {
	var report map[string][]struct {
		ID   string   `json:"id"`
		CWE  []string `json:"cwe_ids"`
		File string   `json:"filename"` // below the scanned folder
		Line int      `json:"line_number"`
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, fmt.Errorf("decode report: %w", err)
	}
	// The keys of the report are severities. They are visited in order, so that two runs give the
	// same list.
	var out []score.Finding
	for _, severity := range slices.Sorted(maps.Keys(report)) {
		for _, r := range report[severity] {
			f := score.Finding{File: r.File, Line: r.Line, Rule: r.ID}
			for _, name := range r.CWE {
				n, err := score.Number(name)
				if err != nil {
					return nil, fmt.Errorf("rule %s: weakness %q: %w", r.ID, name, err)
				}
				f.CWE = append(f.CWE, n)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// Gosec is gosec with its default rules.
type Gosec struct {
	Binary  string
	Timeout time.Duration
}

// Scan runs it on every package of the module in the folder, tests left out.
func (g Gosec) Scan(ctx context.Context, dir string) (*Scan, error) {
	// -no-fail, as above: the exit code reports errors only. gosec loads packages with the go tool,
	// hence the working directory of the module.
	command := process.Command{Dir: dir, Args: []string{g.Binary, "-fmt", "sarif", "-no-fail", "-quiet", "./..."},
		Timeout: g.Timeout}
	out, err := command.Run(ctx)
	if err != nil {
		return nil, err
	}
	scan := &Scan{Cost: out.Cost}
	// Without findings it may write no log at all, not even an empty one.
	if len(out.Stdout) == 0 && out.Code == 0 {
		return scan, nil // it found nothing
	}
	scan.Findings, err = decodeSARIF(out.Stdout, dir)
	if err != nil {
		return nil, fmt.Errorf("gosec %s: exit code %d: %w: %s", dir, out.Code, err, process.Tail(out.Stderr))
	}
	return scan, nil
}

// sarif is the part of a SARIF 2.1.0 log that is needed here.
// Properties and relationships stay raw: tools put weaknesses there in ways of their own, and
// weakness searches their text.
type sarif struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID            string          `json:"id"`
					Properties    json.RawMessage `json:"properties"`
					Relationships json.RawMessage `json:"relationships"`
				} `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []struct {
			RuleID    string `json:"ruleId"`
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct {
						URI string `json:"uri"`
					} `json:"artifactLocation"`
					Region struct {
						StartLine int `json:"startLine"`
					} `json:"region"`
				} `json:"physicalLocation"`
			} `json:"locations"`
		} `json:"results"`
	} `json:"runs"`
}

// weakness finds CWE numbers in what scanners put beside a rule: tags such as
// "CWE-89" or "external/cwe/cwe-089", and targets of relationships to the CWE
// taxonomy, which have the bare number as id.
var weakness = regexp.MustCompile(`(?i)cwe[-_/: ]{0,4}0*(\d{1,4})|"id":\s*"(\d{1,4})"`)

// decodeSARIF reads the SARIF report of another scanner, with paths relative to the scanned
// folder.
func decodeSARIF(b []byte, dir string) ([]score.Finding, error) {
	var log sarif
	if err := json.Unmarshal(b, &log); err != nil {
		return nil, fmt.Errorf("decode SARIF: %w", err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var out []score.Finding
	for _, run := range log.Runs {
		cwe := map[string][]int{}
		for _, rule := range run.Tool.Driver.Rules {
			// One of the two groups is empty, so their concatenation is the number.
			for _, m := range weakness.FindAllStringSubmatch(string(rule.Properties)+string(rule.Relationships), -1) {
				if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
					cwe[rule.ID] = append(cwe[rule.ID], n)
				}
			}
		}
		// A result without a location is about the run (for example a package that does not
		// compile).
		for _, r := range run.Results {
			if len(r.Locations) == 0 {
				continue
			}
			place := r.Locations[0].PhysicalLocation
			// Paths are absolute URIs, absolute paths or relative ones, depending on the tool and
			// its version.
			file := strings.TrimPrefix(place.ArtifactLocation.URI, "file://")
			file = strings.TrimPrefix(strings.TrimPrefix(file, root), "/")
			out = append(out, score.Finding{File: file, Line: place.Region.StartLine, CWE: cwe[r.RuleID],
				Rule: r.RuleID})
		}
	}
	return out, nil
}
