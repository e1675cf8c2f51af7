package frameworks

import (
	"strings"
	"testing"
	"testing/fstest"

	"merlon/internal/engine/sast/model"
)

func TestModels(t *testing.T) {
	models, err := Models()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.Kinds(models); err != nil {
		t.Error(err)
	}
	for _, m := range models {
		if len(m.Entries) == 0 {
			t.Errorf("%s has no entry", m.File)
		}
	}
}

func TestLoadNamesTheFault(t *testing.T) {
	_, err := Load(fstest.MapFS{"x/y/model.yaml": {Data: []byte("exits:\n- a\n- 'b c'")}})
	if err == nil || !strings.HasPrefix(err.Error(), "x/y/model.yaml:3: ") {
		t.Errorf("got error %v", err)
	}
}
