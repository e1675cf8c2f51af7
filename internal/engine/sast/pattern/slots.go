package pattern

import "merlon/internal/engine/sast/tree"

// This file compares the children of two nodes, slot by slot: a slot has those of one role.

// A mode says how the children of one slot are matched.
type mode uint8

const (
	one    mode = iota // both have it or neither
	maybe              // as one, but an ellipsis may be nothing
	less               // the pattern may leave it out
	list               // in order, ellipses allowed
	prefix             // as list, and the source may have more at the end
	subset             // in any order, the source may have more
	args               // arguments: keywords in any order
	body               // a block, or the statement that could stand in its place
	option             // as body, and the pattern may leave it out
	clause             // as body; both have it or neither
	stmts              // the statements of a block
	loose              // as list, and the pattern may have none
)

// A slot is what the children with the roles are to their parent. Each role belongs to one slot of
// a kind at most.
type slot struct {
	mode  mode
	roles []tree.Role
}

// is returns a slot; the table below reads "is one name, is list of parameters".
func is(m mode, roles ...tree.Role) slot { return slot{m, roles} }

// attributes are the annotations and modifiers of anything declared: a pattern names
// some of them, in any order.
var attributes = is(subset, tree.RoleAnnotation, tree.RoleModifier)

// slots gives for each kind how its children are matched, those first that tell
// most. A kind without an entry has its children matched in order, whatever their
// roles.
var slots = map[tree.Kind][]slot{
	tree.Package: {is(one, tree.RoleName)},
	tree.Function: {is(one, tree.RoleName), is(list, tree.RoleReceiver, tree.RoleParameter),
		is(less, tree.RoleReturnType),
		attributes, is(loose, tree.RoleTypeParameter), is(subset, tree.RoleThrows), is(option, tree.RoleBody)},
	tree.Lambda: {is(less, tree.RoleName), is(list, tree.RoleParameter), is(less, tree.RoleReturnType), attributes,
		is(body, tree.RoleBody)},
	tree.Class: {is(one, tree.RoleName), attributes, is(loose, tree.RoleTypeParameter), is(list, tree.RoleParameter),
		is(prefix, tree.RoleBase), is(subset, tree.RoleInterface), is(option, tree.RoleBody)},
	tree.Variable: {is(one, tree.RoleTarget), is(one, tree.RoleValue), is(less, tree.RoleType), attributes},
	tree.Field:    {is(one, tree.RoleTarget), is(one, tree.RoleValue), is(less, tree.RoleType), attributes},
	tree.Parameter: {is(one, tree.RoleTarget), is(less, tree.RoleValue), is(less, tree.RoleType),
		attributes},
	tree.TypeParameter: {is(one, tree.RoleName), is(subset, tree.RoleBase)},
	tree.Annotation:    {is(one, tree.RoleValue)},
	tree.TypeAlias:     {is(one, tree.RoleName), is(one, tree.RoleType), attributes, is(loose, tree.RoleTypeParameter)},

	tree.Block:               {is(stmts, tree.RoleStatement)},
	tree.ExpressionStatement: {is(one, tree.RoleValue)},
	tree.If: {is(less, tree.RoleInit), is(one, tree.RoleCondition), is(body, tree.RoleThen),
		is(option, tree.RoleElse)},
	tree.While:   {is(one, tree.RoleCondition), is(body, tree.RoleBody), is(option, tree.RoleElse)},
	tree.DoWhile: {is(one, tree.RoleCondition), is(body, tree.RoleBody)},
	tree.For: {is(list, tree.RoleInit), is(maybe, tree.RoleCondition), is(list, tree.RoleUpdate),
		is(body, tree.RoleBody)},
	tree.ForEach: {is(one, tree.RoleTarget), is(one, tree.RoleIterable), is(body, tree.RoleBody),
		is(option, tree.RoleElse)},
	tree.Switch: {is(less, tree.RoleInit), is(one, tree.RoleValue), is(subset, tree.RoleCase)},
	tree.Case:   {is(list, tree.RoleCondition), is(one, tree.RoleGuard), is(option, tree.RoleBody)},
	tree.Try: {is(list, tree.RoleResource), is(body, tree.RoleBody), is(subset, tree.RoleHandler),
		is(clause, tree.RoleElse), is(clause, tree.RoleFinally)},
	tree.Catch: {is(list, tree.RoleType), is(less, tree.RoleTarget), is(less, tree.RoleGuard),
		is(body, tree.RoleBody)},
	tree.With:   {is(list, tree.RoleResource), is(body, tree.RoleBody)},
	tree.Return: {is(maybe, tree.RoleValue)}, tree.Throw: {is(one, tree.RoleValue)},
	tree.Label: {is(one, tree.RoleName), is(body, tree.RoleBody)},
	tree.Defer: {is(one, tree.RoleValue)}, tree.Spawn: {is(one, tree.RoleValue)},
	tree.Assert: {is(one, tree.RoleCondition), is(one, tree.RoleValue)},
	tree.Delete: {is(list, tree.RoleValue)},

	tree.Call:    {is(one, tree.RoleCallee), is(args, tree.RoleArgument), is(subset, tree.RoleModifier)},
	tree.New:     {is(one, tree.RoleType), is(args, tree.RoleArgument), is(option, tree.RoleBody)},
	tree.Keyword: {is(one, tree.RoleName), is(one, tree.RoleValue)},
	tree.Member:  {is(one, tree.RoleProperty), is(one, tree.RoleObject)},
	tree.Index:   {is(one, tree.RoleObject), is(list, tree.RoleIndex)},
	tree.Slice:   {is(one, tree.RoleLow), is(one, tree.RoleHigh), is(one, tree.RoleStep)},
	tree.Assign:  {is(one, tree.RoleTarget), is(one, tree.RoleValue)},
	tree.Binary:  {is(one, tree.RoleLeft), is(one, tree.RoleRight)},
	tree.Conditional: {is(one, tree.RoleCondition), is(one, tree.RoleThen),
		is(one, tree.RoleElse)},
	tree.Cast:          {is(one, tree.RoleType), is(one, tree.RoleValue)},
	tree.TypeTest:      {is(one, tree.RoleValue), is(one, tree.RoleType), is(one, tree.RoleTarget)},
	tree.Pair:          {is(one, tree.RoleKey), is(one, tree.RoleValue)},
	tree.Comprehension: {is(one, tree.RoleValue), is(list, tree.RoleClause)},
	tree.Clause:        {is(one, tree.RoleTarget), is(one, tree.RoleIterable), is(list, tree.RoleCondition)},
	tree.Yield:         {is(maybe, tree.RoleValue)},
	tree.Element:       {is(one, tree.RoleName)}, // the rest is in literals.go
	tree.Attribute:     {is(one, tree.RoleName), is(one, tree.RoleValue)},
}

// matchSlotMode gives the slot of a role in a kind.
var slotOf = func() (table [256][256]int8) {
	for k := range table {
		for r := range table[k] {
			table[k][r] = -1
		}
	}
	for kind, list := range slots {
		for i, s := range list {
			for _, r := range s.roles {
				table[kind][r] = int8(i)
			}
		}
	}
	return table
}()

// fillSlots sorts the children of a pattern's node into its slots. Matching then needs no search
// for the children of a role.
func (n *node) fillSlots() {
	spec, ok := slots[n.kind]
	if !ok {
		return
	}
	n.slots = make([][]*node, len(spec))
	for _, k := range n.kids {
		if s := slotOf[n.kind][k.role]; s >= 0 {
			n.slots[s] = append(n.slots[s], k)
		}
	}
}
