package scan

import (
	"encoding/json"
	"maps"
	"sync"

	"merlon/internal/errs"
)

// This file divides the checkpoint of a live scan among its analyzers: each has its own part
// and cannot overwrite another's.

// checkpoints holds the parts by analyzer. It is stored as a JSON object of base64 strings.
type checkpoints struct {
	save  func([]byte) error // nil: checkpoints are disabled
	mu    sync.Mutex
	parts map[string][]byte
}

// newCheckpoints reads the checkpoint of an earlier attempt. An unreadable one is ignored: the
// scan then starts from the beginning.
func newCheckpoints(l *Live) *checkpoints {
	k := &checkpoints{save: l.SaveCheckpoint, parts: map[string][]byte{}}
	var parts map[string][]byte
	if len(l.Resume) > 0 && len(l.Resume) <= MaxCheckpoint && json.Unmarshal(l.Resume, &parts) == nil {
		maps.Copy(k.parts, parts)
	}
	return k
}

// attachTo gives an analyzer its part of the checkpoint, and the function that saves it.
func (k *checkpoints) attachTo(analyzer string, l *Live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l.Resume, l.SaveCheckpoint = k.parts[analyzer], nil
	if k.save != nil {
		l.SaveCheckpoint = func(part []byte) error { return k.savePart(analyzer, part) }
	}
}

// savePart saves a part together with the parts of the other analyzers.
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
