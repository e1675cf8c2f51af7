package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"merlon/test/process"
	"merlon/test/table"
)

// This file measures one scan with everything: code, packages with vulnerability
// data, infrastructure code, secrets and pipelines.

// wholeTree is a repository of more than 100,000 lines and 1,500 packages.
// It is an application of microservices in several languages, so each analysis has something to
// do.
const wholeTree = "crAPI"

const (
	// Floors for a complete scan: time, memory, and the time of a first scan of one file.
	// The limits are for a whole run of the process, the load of the rules included.
	mostWholeTime   = 15 * time.Second
	mostWholeMemory = 800_000_000
	mostFirst       = time.Second
)

// measureWhole measures the time and memory of all analyses on one large repository.
func measureWhole(ctx context.Context, b *bench) ([]table.Row, error) {
	tree := filepath.Join(b.corpora, "repos", wholeTree)
	if _, err := os.Stat(tree); err != nil {
		return nil, err
	}
	// The import is not part of the measured time: it is done once for many scans.
	data, err := b.importAdvisories(ctx)
	if err != nil {
		return nil, err
	}
	load := table.Load()
	r, cost, err := b.scanTarget(ctx, tree, "--advisories", data)
	if err != nil {
		return nil, err
	}
	rows := []table.Row{{Measure: fmt.Sprintf("one scan with everything, %s", wholeTree), Floor: "≤ 15 s, ≤ 800 MB",
		Measured: table.Spent(cost), Met: table.Verdict(cost.Wall <= mostWholeTime, cost.Peak <= mostWholeMemory),
		Note: fmt.Sprintf("%d packages, %d findings; load %s before", len(r.Packages), len(r.Findings), load)}}
	first, err := b.measureFirstScan(ctx)
	return append(rows, first...), err
}

// importAdvisories imports the vulnerability records once and returns the data file.
func (b *bench) importAdvisories(ctx context.Context) (string, error) {
	file := filepath.Join(b.out, "advisories.data")
	if _, err := os.Stat(b.advisories); err != nil {
		return "", err
	}
	out, err := process.Command{Args: []string{b.merlon, "advisories", "import", b.advisories, "--output", file},
		Timeout: b.timeout}.Run(ctx)
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		return "", fmt.Errorf("merlon advisories import: exit code %d: %s", out.Code, process.Tail(out.Stderr))
	}
	return file, nil
}

// measureFirstScan measures the time from the start of the process to the end of a scan of one
// small file of infrastructure code, for several formats.
// A short scan is mostly start-up: parsing of rules and opening of the data.
func (b *bench) measureFirstScan(ctx context.Context) ([]table.Row, error) {
	files := map[string]string{
		"main.tf": "resource \"aws_s3_bucket\" \"b\" {\n  bucket = \"b\"\n  acl    = \"public-read\"\n}\n",
		"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n    - name: c\n      " +
			"image: nginx\n      securityContext:\n        privileged: true\n",
		"Dockerfile": "FROM debian:latest\nRUN apt-get install curl\nUSER root\n",
	}
	worst, measured, met := time.Duration(0), "", true
	for name, text := range files {
		dir, err := os.MkdirTemp(b.out, "first")
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
		r, cost, err := b.scanTarget(ctx, dir, "--analyses", "iac")
		if err != nil {
			return nil, err
		}
		// A scan that finds nothing is fast for the wrong reason.
		if len(r.Findings) == 0 {
			met, measured = false, name+": nothing was found"
		}
		if cost.Wall > worst {
			worst = cost.Wall
		}
	}
	if measured == "" {
		measured = fmt.Sprintf("%.2f s", worst.Seconds())
	}
	return []table.Row{{Measure: "findings in one file of infrastructure code, from the start of the " +
		"process", Floor: "≤ 1.0 s",
		Measured: measured, Met: table.Verdict(met, worst <= mostFirst), Note: "the slowest of Terraform, Kubernetes " +
			"and a Dockerfile, whole process"}}, nil
}
