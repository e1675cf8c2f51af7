// Package passwordlist knows the passwords that people choose most often. The list is that
// of zxcvbn (github.com/trustelem/zxcvbn, MIT), of which only this one is needed: linked,
// its five lists are 2.1 MB of the binary.
package passwordlist

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the list
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:generate go run ./generate passwords.txt.gz

//go:embed passwords.txt.gz
var packed []byte

// Common returns some 30,000 passwords, the most frequent first. It reads them when it is
// first called. Callers do not change the list.
var Common = sync.OnceValues(func() ([]string, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("read the list of passwords: %w", err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, fmt.Errorf("read the list of passwords: %w", err)
	}
	return strings.Fields(string(text)), nil
})
