package interpret

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"merlon/internal/engine/sast/ir"
)

// Two loops inside of one, with a way back from the middle: blocks are looked at from
// the innermost loop that has changed.
func TestLoopHeads(t *testing.T) {
	block := func(except ir.BlockID, succs ...ir.BlockID) ir.Block { return ir.Block{Succs: succs, Except: except} }
	none := ir.BlockID(ir.NoBlock)
	fn := &ir.Function{Blocks: []ir.Block{
		block(none, 1),
		block(none, 2, 6), // the outer head
		block(none, 3, 4), // the first inner head, from which the body goes back to itself
		block(none, 2, 1), // back to both
		block(none, 4, 5), // a loop of one block
		block(1, 6),       // an exception leads back to the outer head
		block(none),
	}}
	heads := loopHeads(fn)
	if diff := cmp.Diff([][]int32{3: {2}, 4: {4}, 5: {1}, 6: nil}, heads); diff != "" {
		t.Fatalf("heads (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		at    int
		dirty []bool
		want  int
	}{
		{3, []bool{false, true, true, false, true, false, false}, 2}, // not 1: the outer loop is not at its end
		{3, []bool{false, true, false, false, true, false, false}, 4},
		{5, []bool{false, true, false, false, false, false, true}, 1},
		{5, []bool{false, false, false, false, false, false, true}, 6},
	} {
		if got := nextBlock(c.at, heads[c.at], c.dirty); got != c.want {
			t.Errorf("behind %d comes %d, want %d", c.at, got, c.want)
		}
	}
	if got := nextBlock(0, []int32{2, 1}, []bool{false, true, true}); got != 2 {
		t.Errorf("where two loops end, %d comes next, want the inner head", got)
	}
}
