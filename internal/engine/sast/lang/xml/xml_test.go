package xml

import (
	"testing"

	"merlon/internal/engine/sast/lang/langtest"
)

// seeds are small sources with many constructs.
var seeds = []string{
	`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "c">]><a x="1 &amp; 2" y='z'><b/>text &#65;<![CDATA[<raw>]]><?pi x?><!-- c --></a>`,
	`<a ... b=$X ...><c/> ...</a>`,
	`a="$X"`,
}

func TestTrees(t *testing.T)    { langtest.Trees(t, Language) }
func TestPatterns(t *testing.T) { langtest.Patterns(t, Language) }
func TestHostile(t *testing.T)  { langtest.Hostile(t, Language, seeds...) }
func TestCorpus(t *testing.T)   { langtest.Corpus(t, Language) }
func FuzzLower(f *testing.F)    { langtest.Fuzz(f, Language, seeds...) }

func TestRulesAreInGrammar(t *testing.T) {
	if names := table.UnknownKinds(); len(names) > 0 {
		t.Errorf("the grammar has no %q", names)
	}
}
