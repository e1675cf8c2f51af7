package callgraph

import (
	"slices"

	"merlon/internal/engine/sast/ir"
)

// findComponents finds the strongly connected components of the call graph, callees first (Tarjan,
// Depth-First Search and Linear Graph Algorithms, 1972), without recursion. Package taint analyzes
// callees before callers and iterates within a component.
func (g *Graph) findComponents() [][]*ir.Function {
	n := len(g.Functions)
	edges := g.calleesOf()
	index, low := make([]int32, n), make([]int32, n)
	on := make([]bool, n)
	var stack []int32
	var result [][]*ir.Function
	type frame struct{ fn, next int32 }
	count := int32(0)
	for root := range int32(n) {
		if index[root] != 0 {
			continue
		}
		work := []frame{{fn: root}}
		for len(work) > 0 {
			f := &work[len(work)-1]
			v := f.fn
			if f.next == 0 {
				count++
				index[v], low[v], on[v] = count, count, true
				stack = append(stack, v)
			}
			if int(f.next) < len(edges[v]) {
				w := edges[v][f.next]
				f.next++
				switch {
				case index[w] == 0:
					work = append(work, frame{fn: w})
				case on[w]:
					low[v] = min(low[v], index[w])
				}
				continue
			}
			if low[v] == index[v] {
				at := len(stack) - 1
				for stack[at] != v {
					at--
				}
				ids := slices.Clone(stack[at:])
				stack = stack[:at]
				slices.Sort(ids)
				for _, id := range ids {
					on[id] = false
				}
				result = append(result, g.functionList(ids))
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				p := work[len(work)-1].fn
				low[p] = min(low[p], low[v])
			}
		}
	}
	return result
}

// calleesOf returns for each function those that may run when it runs: targets, callbacks, and
// nested functions that it creates.
func (g *Graph) calleesOf() [][]int32 {
	edges := make([][]int32, len(g.Functions))
	for i, fn := range g.Functions {
		var list []int32
		for k := range fn.Calls {
			call := g.callBase[i] + int32(k)
			list = append(append(list, g.targets[call]...), g.callbacks[call]...)
		}
		for k := range fn.Code {
			if in := &fn.Code[k]; in.Op == ir.Closure {
				if f := fn.File.Functions[in.X]; f.Parent == fn {
					list = append(list, f.ID)
				}
			}
		}
		slices.Sort(list)
		edges[i] = slices.Compact(list)
	}
	return edges
}
