package main

import (
	"errors"
	"io/fs"
	"testing"
)

func TestWholeNeedsItsTree(t *testing.T) {
	b := &bench{corpora: t.TempDir(), out: t.TempDir()}
	if _, err := measureWhole(t.Context(), b); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
