// Package frameworks embeds what the program knows about libraries:
// <language>/<framework>/model.yaml, in the format of package model.
package frameworks

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"merlon/internal/engine/sast/model"
)

//go:embed */*/model.yaml
var files embed.FS

// Models returns every model, in the order of their paths. They are read once and
// shared: callers do not change them.
var Models = sync.OnceValues(func() ([]*model.Model, error) { return Load(files) })

// Set returns the models of a language, joined. It is made once and shared.
func Set(language string) (*model.Set, error) {
	models, err := Models()
	if err != nil {
		return nil, err
	}
	set, _ := sets.LoadOrStore(language, sync.OnceValue(func() *model.Set { return model.NewSet(language, models) }))
	return set.(func() *model.Set)(), nil
}

var sets sync.Map // of func() *model.Set by language

// Load reads the models of a file system, <language>/<framework>/model.yaml.
func Load(fsys fs.FS) ([]*model.Model, error) {
	names, err := fs.Glob(fsys, "*/*/model.yaml")
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var models []*model.Model
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read model: %w", err)
		}
		framework := path.Dir(name)
		m, err := model.Parse(name, path.Dir(framework), path.Base(framework), src)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}
