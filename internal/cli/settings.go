package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"merlon/internal/errs"
)

// This file reads settings. An option comes from, strongest first: the command
// line, the variable MERLON_<NAME>, the settings file. The file is YAML with one
// key an option.

// settings resolves the options that the command line does not give.
// file is nil without a settings file; its keys are names of options, in lower case with hyphens.
type settings struct {
	getenv func(string) string
	path   string
	file   map[string]any
}

// settingsFile is the option --config.
type settingsFile string

// BeforeResolve reads the file before the other options are resolved.
// kong calls it when it meets --config, before Resolve is called for the other options.
func (settingsFile) BeforeResolve(ctx *kong.Context, at *kong.Path, s *settings) error {
	path, _ := ctx.FlagValue(at.Flag).(settingsFile)
	return s.loadFile(string(path))
}

// loadFile reads the settings file; an empty path reads nothing.
func (s *settings) loadFile(path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "settings file")
	}
	s.path = path
	if err := yaml.Unmarshal(text, &s.file); err != nil {
		return errs.Wrap(errs.Invalid, err, "settings file %s", path)
	}
	return nil
}

// Validate refuses keys that are no option of any command.
// A misspelled key would silently leave a default in force, such as an open sign-up.
func (s *settings) Validate(app *kong.Application) error {
	known := map[string]bool{}
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error { // the visitor never fails
		if f, ok := node.(*kong.Flag); ok {
			for _, name := range optionNames(f) {
				known[name] = true
			}
		}
		return next(nil)
	})
	var unknown []string
	for key := range s.file {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	return errs.E(errs.Invalid, "settings file %s: unknown key %s", s.path, strings.Join(unknown, ", "))
}

// Resolve returns the value of an option, or nil when neither the environment
// nor the file has it.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	// --help and --config cannot come from the file itself.
	if flag.Name == "help" || flag.Name == "config" {
		return nil, nil
	}
	for _, name := range optionNames(flag) {
		if text := s.getenv(environmentName(name)); text != "" {
			return text, nil
		}
	}
	for _, name := range optionNames(flag) {
		switch v := s.file[name].(type) {
		case nil:
		// A list of YAML is joined by the separator of the option, which kong splits again.
		case []any:
			parts := make([]string, len(v))
			for i, item := range v {
				parts[i] = fmt.Sprint(item)
			}
			return strings.Join(parts, string(flag.Tag.Sep)), nil
		default:
			return fmt.Sprint(v), nil
		}
	}
	return nil, nil
}

// optionNames returns the name of an option and its old names, which are accepted for
// one more release.
func optionNames(flag *kong.Flag) []string { return append([]string{flag.Name}, flag.Aliases...) }

// environmentName is the name of the environment variable of an option.
// For example MERLON_MAX_FILE_SIZE for --max-file-size.
func environmentName(option string) string {
	return "MERLON_" + strings.ToUpper(strings.ReplaceAll(option, "-", "_"))
}
