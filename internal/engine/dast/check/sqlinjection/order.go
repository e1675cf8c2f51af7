package sqlinjection

import (
	"math"
	"slices"
)

// This file draws the order in which the questions of a proof are asked, so that no page whose
// responses depend on anything but the question is likely to match it: not one that toggles,
// counts, shows values in turns or at random, or changes with time.

// stateless is how likely a page that does not follow the questions may match the order of a
// first proof. Each question is drawn independently there, so that a page that has decided its
// responses by anything else matches n questions of k kinds with a chance of 1 in k^n.
const stateless = 1e-5

// proofs counts the points of a run whose responses followed the questions.
const proofs = "sql proofs"

// firstProof reports whether nothing is known yet that speaks for the application: none of its
// responses followed the questions before, or those of as many points came by chance. A proof
// takes some ten requests more then.
func (s *prober) firstProof() bool {
	return !s.HasFact(followsKey(s.Request)) && s.CountOf(proofs) <= s.CountOf(byChance)
}

// recordProof records that the responses of the point followed the questions.
func (s *prober) recordProof() {
	s.IncrementCount(proofs)
	s.RecordFact(followsKey(s.Request))
	if s.isUnlikelyPoint() {
		s.RecordFact(seldomProved)
	}
}

// drawOrder draws which of the kinds to ask, and in which order, with at least so many questions.
// n is how often each kind, and any other, was seen already. Some question is asked twice in a
// row: the responses have to agree. Empty: it would take too many questions.
func (s *prober) drawOrder(kinds, n []int, least int) []int {
	level := s.contextLevel()
	if s.firstProof() {
		length := max(least, int(math.Ceil(math.Log(level)/-math.Log(float64(len(kinds))))))
		if length > maxRounds {
			return nil
		}
		for {
			drawn := make([]int, length)
			for i := range drawn {
				drawn[i] = kinds[s.RandomNumber(0, len(kinds)-1)]
			}
			if countRepeats(drawn) == len(kinds) {
				return drawn
			}
		}
	}
	var drawn []int
	n = slices.Clone(n)
	for len(drawn) <= maxRounds {
		if chanceOfOrder(n...) <= level && len(drawn) >= least {
			for range maxShuffles {
				s.shuffleList(drawn)
				if countRepeats(drawn) >= min(len(kinds), len(drawn)/2) {
					return drawn
				}
			}
		}
		kind := kinds[s.RandomNumber(0, len(kinds)-1)]
		for _, k := range kinds {
			if n[k] < n[kind] {
				kind = k
			}
		}
		n[kind]++
		drawn = append(drawn, kind)
	}
	return nil
}

// maxShuffles bounds the orders that are drawn of the same questions. Most lists have one with
// repetitions among the first ten; the others get one more question.
const maxShuffles = 50

// shuffleList puts a list into a random order.
func (s *prober) shuffleList(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := s.RandomNumber(0, i)
		list[i], list[j] = list[j], list[i]
	}
}

// countRepeats counts the kinds that stand twice in a row.
func countRepeats(list []int) int {
	var kinds []int
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] && !slices.Contains(kinds, list[i]) {
			kinds = append(kinds, list[i])
		}
	}
	return len(kinds)
}
