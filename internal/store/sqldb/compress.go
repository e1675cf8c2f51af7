package sqldb

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"
)

// Compress returns v as JSON, compressed in the Snappy-compatible block format of s2.
// Measured over findings with snippets and paths: 53 % of the size for 4 µs;
// DEFLATE gives 40 % for 37 µs, which would be a third of the work of storing
// one.
func Compress(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return s2.Encode(nil, b), nil
}

// Decompress is the inverse of Compress.
func Decompress(packed []byte, v any) error {
	b, err := s2.Decode(nil, packed)
	if err != nil {
		return fmt.Errorf("decompress %T: %w", v, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}
