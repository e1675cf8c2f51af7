package jar

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strings"

	"github.com/google/osv-scalibr/extractor/filesystem/language/java/groupid"

	"merlon/internal/lazyregexp"
)

// readText returns the content of a small file.
func readText(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	// One byte more than allowed tells a file of exactly the limit from a larger one; the size in
	// the directory may be forged (CWE-409).
	b, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err == nil && len(b) > maxText {
		err = fmt.Errorf("more than %d bytes", maxText)
	}
	return b, err
}

// readProperties reads the pom.properties that Maven writes into what it builds.
func readProperties(f *zip.File) (c coordinates, err error) {
	text, err := readText(f)
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "groupId":
			c.group = value
		case "artifactId":
			c.artifact = value
		case "version":
			c.version = value
		}
	}
	return c, nil
}

// Fields of a manifest that may say a part, the best first
// (https://docs.oracle.com/en/java/javase/21/docs/specs/jar/jar.html,
// https://docs.osgi.org/specification/osgi.core/8.0.0/framework.module.html).
var (
	groupFields = []string{"Bundle-SymbolicName", "Extension-Name", "Specification-Vendor", "Implementation-Vendor",
		"Implementation-Vendor-Id", "Implementation-Title", "Bundle-Activator", "Automatic-Module-Name", "Main-Class",
		"Package"}
	artifactFields = []string{"Name", "Implementation-Title", "Specification-Title", "Bundle-Name", "Short-Name",
		"Extension-Name"}
	versionFields = []string{"Implementation-Version", "Specification-Version", "Plugin-Version", "Bundle-Version"}
)

// readManifest reads a META-INF/MANIFEST.MF.
func readManifest(f *zip.File) (c coordinates, err error) {
	text, err := readText(f)
	if err != nil {
		return c, err
	}
	// All sections become one header: its first fields are the main section.
	var lines bytes.Buffer
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			lines.Write(line)
			lines.WriteByte('\n')
		}
	}
	h, err := textproto.NewReader(bufio.NewReader(&lines)).ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) { // no empty line ends it
		return c, err
	}
	c.artifact = findArtifact(h)
	c.group = cmp.Or(groupid.FromArtifactID(c.artifact), findGroup(h)) // some are known to be wrong
	for _, field := range versionFields {
		if v := h.Get(field); v != "" {
			c.version, _, _ = strings.Cut(v, " ") // "1.4 1855 April 22 2006"
			break
		}
	}
	return c, nil
}

// domain matches the first part of a title like "org.elasticsearch#server;8.14.3".
var domain = lazyregexp.New(`[a-zA-Z0-9-_.]+`)

// findGroup returns the first field that can be a group.
func findGroup(h textproto.MIMEHeader) string {
	for _, field := range groupFields {
		group := h.Get(field)
		if field == "Implementation-Title" {
			group = domain.FindString(group)
		}
		if group != "" && !strings.Contains(group, " ") {
			group, _, _ = strings.Cut(strings.ToLower(group), ";")
			return group
		}
	}
	return ""
}

// findArtifact returns the artifact that a manifest names.
func findArtifact(h textproto.MIMEHeader) string {
	// The plugin derives the symbolic name from the coordinates: "org.apache.commons.io".
	if h.Get("Created-By") == "Apache Maven Bundle Plugin" {
		name := h.Get("Bundle-SymbolicName")
		if last := name[strings.LastIndex(name, ".")+1:]; isArtifact(last) {
			return last
		}
	}
	if h.Get("Name") == "org/apache/axis" {
		return "axis"
	}
	for _, field := range artifactFields {
		if v := h.Get(field); isArtifact(v) {
			return v
		}
	}
	return ""
}

// isArtifact reports whether a text can be an artifact: "${…}" and "%…" are placeholders.
func isArtifact(text string) bool {
	return text != "" && !strings.Contains(text, " ") && !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "%")
}
