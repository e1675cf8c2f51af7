package analyzer

import (
	"bytes"
	"regexp"
	"strings"

	"merlon/internal/engine/iac/kics"
)

// This file follows the user of a Dockerfile's stages. A stage without USER runs as the user of its
// base, which may be a stage above it with USER, or an image that is not run as root.

// nonRootImages matches images whose publisher sets another user than root:
//
//   - tags and names that say so: distroless nonroot, rootless and unprivileged variants, and the
//     chiseled images of .NET 8 and later (user app);
//   - publishers that set one for all of their images, by their documentation: Chainguard (65532),
//     Bitnami (1001), Prometheus (nobody), Grafana (472);
//   - single images: Jenkins, Keycloak;
//   - the language images of Red Hat, such as ubi9/nodejs-20 (1001); ubi9/ubi itself is run as root.
var nonRootImages = regexp.MustCompile(`(?i)nonroot|rootless|unprivileged|chiseled` +
	`|^cgr\.dev/chainguard/|(^|/)bitnami(legacy)?/|^(docker\.io/)?prom/|^quay\.io/prometheus/|^(docker\.io/)?grafana/` +
	`|^(docker\.io/)?jenkins/jenkins(:|@|$)|^quay\.io/keycloak/keycloak(:|@|$)|/ubi\d+/[a-z]+-\d+`)

// instruction matches the instructions that decide about the user: FROM with the image and the name
// of the stage, and USER.
var instruction = regexp.MustCompile(`(?i)^\s*(?:(FROM)\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?|USER\s+(\S+))`)

// runsAsOtherUser reports whether the stage of the flaw runs as another user than root without
// a USER instruction in it.
func runsAsOtherUser(_ *treeFacts, f kics.Flaw) bool {
	stages := map[string]bool{} // by lower-case name: runs as another user than root
	var name string             // of the stage at hand
	var nonRoot bool
	for i, line := range bytes.Split(f.Document.Text, []byte("\n")) {
		m := instruction.FindSubmatch(line)
		if m == nil {
			continue
		}
		if len(m[1]) == 0 {
			nonRoot = !isRootUser(string(m[4]))
		} else {
			if i >= f.Line { // lines count from 1: the stage of the flaw has ended
				return nonRoot
			}
			image := string(m[2])
			inherited, isStage := stages[strings.ToLower(image)]
			nonRoot = inherited || !isStage && !strings.Contains(imageName(image), "$") &&
				nonRootImages.MatchString(image)
			name = strings.ToLower(string(m[3]))
		}
		if name != "" {
			stages[name] = nonRoot
		}
	}
	return nonRoot
}

// imageName returns an image without tag and digest: a tag is often a variable, the name decides.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

// isRootUser reports whether the value of USER names root, with or without a group.
func isRootUser(value string) bool {
	user, _, _ := strings.Cut(strings.Trim(value, `"'`), ":")
	return user == "root" || user == "0"
}
