package codefix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.yaml.in/yaml/v3"
)

// This file parses changed files. A file that was correct and is not after a change would have no
// findings, which must not count as success.

// parseError returns why the text has no valid syntax; nil for formats without a parser here.
func parseError(name, text string) error {
	switch strings.ToLower(path.Ext(name)) {
	case ".yml", ".yaml":
		d := yaml.NewDecoder(strings.NewReader(text))
		for {
			var v any // a value, because nodes may have the same key twice
			err := d.Decode(&v)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	case ".json":
		if !json.Valid([]byte(text)) {
			return errors.New("invalid JSON")
		}
	case ".tf", ".tfvars", ".hcl":
		if _, diags := hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos); diags.HasErrors() {
			return fmt.Errorf("%s", diags.Error())
		}
	}
	return nil
}

// breaksSyntax returns the syntax error that the change of a file introduces. Files that were not
// valid before, such as templates of Helm, are not judged.
func breaksSyntax(name, before, after string) error {
	if parseError(name, before) != nil {
		return nil
	}
	return parseError(name, after)
}
