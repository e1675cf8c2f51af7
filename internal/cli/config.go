package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"merlon/internal/config"
)

// configCommand takes the options of serve, so that it shows what serve would do.
type configCommand struct {
	config.Server `embed:""`
	Reference     bool `hidden:"" help:"Print docs/configuration.md."`
}

// Run prints the settings in force as a settings file, secrets hidden.
func (c configCommand) Run(host Host, parsed *kong.Context) error {
	flags := optionsOf(parsed.Model.Node, "config")
	if c.Reference {
		_, err := host.Stdout.Write(writeReference(flags, parsed.Model.Node))
		return err
	}
	if err := c.Validate(); err != nil {
		return err
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range flags {
		value := &yaml.Node{}
		if err := value.Encode(f.Target.Interface()); err != nil {
			return fmt.Errorf("print %s: %w", f.Name, err)
		}
		if f.Target.Type().String() == "time.Duration" {
			value.SetString(fmt.Sprint(f.Target.Interface()))
		}
		if f.Tag.Has("secret") && value.Value != "" {
			value.SetString("(hidden)")
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Name}, value)
	}
	text, err := yaml.Marshal(root)
	if err != nil {
		return fmt.Errorf("print the settings: %w", err)
	}
	_, err = host.Stdout.Write(text)
	return err
}

// optionsOf returns the options of the command below the node.
func optionsOf(app *kong.Node, command string) []*kong.Flag {
	var flags []*kong.Flag
	for _, node := range app.Children {
		if node.Name != command {
			continue
		}
		for _, f := range node.Flags {
			if f.Name != "help" && !f.Hidden {
				flags = append(flags, f)
			}
		}
	}
	return flags
}

// groups is the order of the manual's chapters.
var groups = []string{"Addresses", "Storage", "Region", "Sign-in", "Mail", "Scans", "Advisories", "Outgoing requests",
	"Registries of images", "Log"}

// writeReference returns the manual of the settings, docs/configuration.md.
func writeReference(flags []*kong.Flag, app *kong.Node) []byte {
	var b bytes.Buffer
	b.WriteString(`# Settings

Every setting is an option of a command, a key of the settings file, and an
environment variable. The command line overrides the environment, and the
environment overrides the file. The file is YAML, named by ` + "`--config FILE`" + ` or
` + "`MERLON_CONFIG`" + `; an unknown key is an error. A list is a YAML
list in the file and separated by commas (peer-region: semicolons) in a variable.
The first chapters are the settings of ` + "`merlon serve`" + `; ` + "`merlon worker`" + ` and ` + "`merlon admin`" + ` use
a part of them. ` + "`merlon config`" + ` prints the effective settings without secrets.

This page is printed by ` + "`merlon config --reference`" + `.
`)
	slices.SortStableFunc(flags, func(a, b *kong.Flag) int {
		return slices.Index(groups, a.Group.Key) - slices.Index(groups, b.Group.Key)
	})
	group := ""
	for _, f := range flags {
		if f.Group.Key != group {
			group = f.Group.Key
			fmt.Fprintf(&b, "\n## %s\n\n| key | variable | default | meaning |\n|---|---|---|---|\n", group)
		}
		writeSettingRow(&b, f)
	}
	known := map[string]bool{}
	for _, f := range flags {
		known[f.Name] = true
	}
	for _, command := range clientCommands {
		fmt.Fprintf(&b, "\n## merlon %s\n\n| key | variable | default | meaning |\n|---|---|---|---|\n", command)
		for _, f := range optionsOf(app, command) {
			if !known[f.Name] {
				writeSettingRow(&b, f)
			}
		}
	}
	return b.Bytes()
}

// clientCommands are the commands that people run beside a service, and whose
// options are settings too.
var clientCommands = []string{"scan", "login", "logout"}

// writeSettingRow writes the line of one setting.
func writeSettingRow(b *bytes.Buffer, f *kong.Flag) {
	help := strings.ReplaceAll(strings.ReplaceAll(f.Help, "|", "\\|"), "\n", " ")
	fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", f.Name, environmentName(f.Name), defaultText(f), help)
}

// defaultText formats the default of an option for the manual.
func defaultText(f *kong.Flag) string {
	if f.Default == "" {
		return ""
	}
	return "`" + f.Default + "`"
}
