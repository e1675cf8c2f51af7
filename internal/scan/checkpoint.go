package scan

import (
	"encoding/json"
	"maps"
	"sync"

	"merlon/internal/errs"
)

// This file shares what a live scan keeps among its analyzers: each has a part of its
// own, and none writes over another's.

// A checkpoints holds the parts, by analyzer. Its form is a JSON object of texts in base 64.
type checkpoints struct {
	save  func([]byte) error // nil: nothing is kept
	mu    sync.Mutex
	parts map[string][]byte
}

// newCheckpoints reads what an earlier attempt has kept. What is of another form is left.
func newCheckpoints(l *Live) *checkpoints {
	k := &checkpoints{save: l.SaveCheckpoint, parts: map[string][]byte{}}
	var parts map[string][]byte
	if len(l.Resume) > 0 && len(l.Resume) <= MaxCheckpoint && json.Unmarshal(l.Resume, &parts) == nil {
		maps.Copy(k.parts, parts)
	}
	return k
}

// attachTo hands an analyzer its part, and a way to keep it.
func (k *checkpoints) attachTo(analyzer string, l *Live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.Resume, l.SaveCheckpoint = k.parts[analyzer], nil
	if k.save != nil {
		l.SaveCheckpoint = func(part []byte) error { return k.savePart(analyzer, part) }
	}
}

// savePart keeps a part together with the others'.
func (k *checkpoints) savePart(analyzer string, part []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := maps.Clone(k.parts)
	parts[analyzer] = part
	text, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	if len(text) > MaxCheckpoint {
		return errs.E(errs.TooLarge, "the checkpoint of the scan is larger than %d MiB", MaxCheckpoint>>20)
	}
	if err := k.save(text); err != nil {
		return err
	}
	k.parts = parts
	return nil
}
