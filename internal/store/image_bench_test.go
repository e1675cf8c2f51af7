package store_test

import (
	"fmt"
	"testing"

	"merlon/internal/finding"
	"merlon/internal/triage"
)

// BenchmarkImages lists a full repository: a hundred tags with 500 findings and 3,000
// packages each, most of them the same in all.
func BenchmarkImages(b *testing.B) { benchStores(b, benchImages) }

func benchImages(b *testing.B, s *findingStore) {
	i := imageScan{}
	for n := range 500 {
		i.flaws = append(i.flaws, fmt.Sprint("f", n))
	}
	for n := range 3000 {
		i.packs = append(i.packs, fmt.Sprint("p", n))
	}
	for tag := range 100 {
		i.tag = fmt.Sprint(tag)
		i.flaws[tag] = fmt.Sprint("own", tag)
		s.scanImage("main", i)
	}
	q := triage.ImageQuery{Sort: triage.ByLatestScan, Descending: true, Limit: 100, Severities: finding.Severities}
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if _, n, err := s.db.Images(b.Context(), s.sc, q); err != nil || n != 100 {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("grouped", func(b *testing.B) {
		for b.Loop() {
			if p, err := s.db.ImageGroups(b.Context(), s.sc, q); err != nil || p.Tags != 100 {
				b.Fatal(p.Tags, err)
			}
		}
	})
	b.Run("findings", func(b *testing.B) {
		for b.Loop() {
			p, err := s.db.Findings(b.Context(), s.sc,
				triage.Query{Filter: triage.Filter{Analysis: finding.Container, Image: s.image("main", "7")},
					Limit: 100})
			if err != nil || p.Total != 500 {
				b.Fatal(p.Total, err)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			s.scanImage("main", i)
		}
	})
}
