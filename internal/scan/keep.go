package scan

import (
	"encoding/json"
	"maps"
	"sync"

	"merlon/internal/errs"
)

// This file shares what a live scan keeps among its analyzers: each has a part of its
// own, and none writes over another's.

// A keeper holds the parts, by analyzer. Its form is a JSON object of texts in base 64.
type keeper struct {
	keep  func([]byte) error // nil: nothing is kept
	mu    sync.Mutex
	parts map[string][]byte
}

// newKeeper reads what an earlier attempt has kept. What is of another form is left.
func newKeeper(l *Live) *keeper {
	k := &keeper{keep: l.Keep, parts: map[string][]byte{}}
	var parts map[string][]byte
	if len(l.Resume) > 0 && len(l.Resume) <= MaxKept && json.Unmarshal(l.Resume, &parts) == nil {
		maps.Copy(k.parts, parts)
	}
	return k
}

// give hands an analyzer its part, and a way to keep it.
func (k *keeper) give(analyzer string, l *Live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.Resume, l.Keep = k.parts[analyzer], nil
	if k.keep != nil {
		l.Keep = func(part []byte) error { return k.put(analyzer, part) }
	}
}

// put keeps a part together with the others'.
func (k *keeper) put(analyzer string, part []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := maps.Clone(k.parts)
	parts[analyzer] = part
	text, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	if len(text) > MaxKept {
		return errs.E(errs.TooLarge, "what the scan keeps is longer than %d MiB", MaxKept>>20)
	}
	if err := k.keep(text); err != nil {
		return err
	}
	k.parts = parts
	return nil
}
