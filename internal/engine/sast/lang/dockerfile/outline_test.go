package dockerfile

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// TestInstructions pins the call that each instruction becomes.
func TestInstructions(t *testing.T) {
	langtest.Snippets(t, Language, []langtest.Case{
		{
			Name:   "image with tag, digest and name",
			Source: "FROM --platform=linux/amd64 a/b:1.2@sha256:0a AS base",
			Want: []string{
				`Call(FROM, "a/b", Keyword(platform, "linux/amd64"), Keyword(Name "tag" [implied], ` +
					`"1.2"), Keyword(Name "digest" [implied], "sha256:0a"), Keyword(Name "as" [implied], "base"));`,
			},
		},
		{
			Name: "shell form and exec form",
			Source: "RUN apt-get update && a\n" +
				`CMD ["b", "-c"]`,
			Want: []string{
				`Call(RUN, Binary "&&"(Call(Name "command" [implied], "apt-get", "update"), Call(` +
					`Name "command" [implied], "a")), Keyword [implied](Name "shell" [implied], ` +
					`Bool "true" [implied]));`,
				`Call(CMD, List("b", "-c"), Keyword [implied](Name "exec" [implied], Bool "true" [implied]));`,
			},
		},
		{
			Name:   "run with flags",
			Source: "RUN --mount=type=secret,id=a b",
			Want: []string{
				`Call(RUN, Call(Name "command" [implied], "b"), Keyword(mount, "type=secret,id=a"), ` +
					`Keyword [implied](Name "shell" [implied], Bool "true" [implied]));`,
			},
		},
		{
			Name: "here-document",
			Source: "RUN <<E\n" +
				"a\n" +
				"b\n" +
				"E",
			Want: []string{
				`Call(RUN, Sequence(Call(Name "command" [implied], "a"), Call(Name "command" [implied], ` +
					`"b")), Keyword [implied](Name "shell" [implied], Bool "true" [implied]));`,
			},
		},
		{
			Name: "environment in both forms",
			Source: `ENV A=1 B="x y"` + "\n" +
				"ENV C d e",
			Want: []string{
				`Call(ENV, Keyword(A, "1"), Keyword(B, "x y"));`,
				`Call(ENV, Keyword(C, "d e"));`,
			},
		},
		{
			Name: "argument with a default",
			Source: "ARG A=1\n" +
				"ARG B",
			Want: []string{
				`Call(ARG, Keyword(A, "1"));`,
				"Call(ARG, B);",
			},
		},
		{
			Name: "files",
			Source: "COPY --from=base --chown=a:b x y /z\n" +
				`ADD ["a b", "/c"]`,
			Want: []string{
				`Call(COPY, "x", "y", "/z", Keyword(from, "base"), Keyword(chown, "a:b"));`,
				`Call(ADD, List("a b", "/c"));`,
			},
		},
		{
			Name: "user, folder and ports",
			Source: "USER a:b\n" +
				"WORKDIR /c\n" +
				"EXPOSE 80/tcp 443",
			Want: []string{
				`Call(USER, "a", Keyword(Name "group" [implied], "b"));`,
				`Call(WORKDIR, "/c");`,
				`Call(EXPOSE, "80/tcp", "443");`,
			},
		},
		{
			Name: "labels and volumes",
			Source: `LABEL a="b" c=d` + "\n" +
				`VOLUME ["/e"] `,
			Want: []string{
				`Call(LABEL, Keyword(a, "b"), Keyword(c, "d"));`,
				`Call(VOLUME, List("/e"));`,
			},
		},
		{
			Name: "health check",
			Source: "HEALTHCHECK --interval=5s CMD a || exit 1\n" +
				"HEALTHCHECK NONE",
			Want: []string{
				`Call(HEALTHCHECK, Call(CMD, Binary "||"(Call(Name "command" [implied], "a"), Call(` +
					`Name "command" [implied], "exit", "1")), Keyword [implied](Name "shell" [implied], ` +
					`Bool "true" [implied])), Keyword(interval, "5s"));`,
				`Call(HEALTHCHECK, "NONE");`,
			},
		},
		{
			Name:   "entry point with a variable",
			Source: `ENTRYPOINT ["/bin/sh", "-c", "$A"]`,
			Want: []string{
				`Call(ENTRYPOINT, List("/bin/sh", "-c", "$A"), Keyword [implied](Name "exec" [implied], ` +
					`Bool "true" [implied]));`,
			},
		},
		{
			Name: "triggers and shell",
			Source: "ONBUILD RUN a\n" +
				`SHELL ["/bin/bash", "-c"]` + "\n" +
				"STOPSIGNAL SIGTERM",
			Want: []string{
				`Call(ONBUILD, Call(RUN, Call(Name "command" [implied], "a"), Keyword [implied](` +
					`Name "shell" [implied], Bool "true" [implied])));`,
				`Call(SHELL, List("/bin/bash", "-c"), Keyword [implied](Name "exec" [implied], ` +
					`Bool "true" [implied]));`,
				`Call(STOPSIGNAL, "SIGTERM");`,
			},
		},
		{
			Name: "continuation and comments",
			Source: "RUN a \\\n" +
				"  # comment\n" +
				"  b",
			Want: []string{
				`Call(RUN, Call(Name "command" [implied], "a", "b"), Keyword [implied](` +
					`Name "shell" [implied], Bool "true" [implied]));`,
			},
		},
		{
			Name:   "maintainer",
			Source: "MAINTAINER a <b@c>",
			Want:   []string{`Call(MAINTAINER, "a <b@c>");`},
		},
		{
			Name: "other escape character",
			Source: "# escape=`\n" +
				"RUN a `\n" +
				" b",
			Want: []string{
				`Call(RUN, Call(Name "command" [implied], "a", "b"), Keyword [implied](` +
					`Name "shell" [implied], Bool "true" [implied]));`,
			},
		},
	})
}

// TestPatternOutlines pins how fragments of rules are read, with the signs of patterns
// restored.
func TestPatternOutlines(t *testing.T) {
	langtest.PatternSnippets(t, Language, []langtest.Case{
		{
			Name:   "image",
			Source: "FROM $IMAGE",
			Want:   []string{"Call(FROM, $IMAGE)"},
		},
		{
			Name:   "image with a tag",
			Source: "FROM $IMAGE:latest",
			Want:   []string{`Call(FROM, $IMAGE, Keyword(Name "tag" [implied], "latest"))`},
		},
		{
			Name:   "run with any command",
			Source: "RUN ... curl ...",
			Want: []string{
				`Call(RUN, Deep(Call(Name "command" [implied], ..., "curl", ...)), Keyword [implied](` +
					`Name "shell" [implied], Bool "true" [implied]))`,
			},
		},
		{
			Name:   "user",
			Source: "USER root",
			Want:   []string{`Call(USER, "root")`},
		},
		{
			Name: "any instructions between",
			Source: "FROM $I\n" +
				"...\n" +
				"USER $U",
			Want: []string{"Block(Call(FROM, $I);, ..., Call(USER, $U);)"},
		},
		{
			Name:   "exec form",
			Source: `CMD [..., "a", ...]`,
			Want: []string{
				`Call(CMD, List(..., "a", ...), Keyword [implied](Name "exec" [implied], Bool "true" [implied]))`,
			},
		},
		{
			Name:   "environment",
			Source: "ENV $K=$V",
			Want:   []string{"Call(ENV, Keyword($K, $V))"},
		},
	})
}
