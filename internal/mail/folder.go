package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Folder is a Sender that writes every mail into a file of its own: what a
// deployment has until it is told of an SMTP server.
type Folder struct {
	dir  string
	from string
}

// NewFolder returns a Folder over dir, which is made with mode 0700.
func NewFolder(dir, from string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the mail folder: %w", err)
	}
	return &Folder{dir: dir, from: from}, nil
}

// Send writes the file TIME-ID.eml, mode 0600. It appears whole or not at all; a
// mail that is sent again replaces its file.
func (f *Folder) Send(_ context.Context, m Message) error {
	text, err := encodeMessage(m, f.from)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(f.dir, ".mail-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		name := m.Date.UTC().Format("20060102T150405.000Z") + "-" + filepath.Base(m.ID) + ".eml"
		err = os.Rename(tmp.Name(), filepath.Join(f.dir, name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write mail: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}
