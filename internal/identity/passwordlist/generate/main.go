// Command generate writes the list of common passwords of package passwordlist, from the
// module github.com/trustelem/zxcvbn. "go generate ./internal/identity/passwordlist" runs it.
package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"os"
	"strings"

	"github.com/trustelem/zxcvbn/frequency"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FILE")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal("generate the list of passwords: ", err)
	}
}

// generate writes the file. Releases of Go compress differently, so it stays unless its
// content changes.
func generate(path string) error {
	content := []byte(strings.Join(frequency.FrequencyLists["passwords"], "\n") + "\n")
	if old, err := unpack(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// unpack returns the content of a compressed file.
func unpack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
