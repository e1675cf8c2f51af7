package image

import "testing"

func TestPin(t *testing.T) {
	for text, want := range map[string]Pin{
		"alpine": Floating, "alpine:latest": Floating, "alpine:3.20": Tagged, "docker://ghcr.io/a/b": Floating,
		"localhost:5000/a":     Floating,
		"localhost:5000/a:1.2": Tagged, "a@sha256:00": Digest, "a:1@sha256:00": Digest, "a:$TAG": Variable,
		"$IMAGE": Variable, "a:main": Floating,
	} {
		if got := Parse(text).Pin(); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
	if !Parse("a").IsLooserThan(Parse("a:1")) || Parse("a:1").IsLooserThan(Parse("a")) {
		t.Error("no tag is worse than one")
	}
}
