package value_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/taint/value"
)

// text is shown for a value of which nothing is known.
const none = "none"

func show(v *value.Value) string {
	if v == nil || !v.IsKnown() {
		return none
	}
	return v.Constant.String()
}

func number(text string) *value.Value {
	v, ok := value.ParseNumber(text)
	if !ok {
		return value.Unknown
	}
	return v
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"12": "12", "1_000": "1000", "0x1F": "31", "7L": "7", "2.5f": "2.5", "1e3": "1000", "ten": none,
		"9007199254740993": "9.007199254740992e+15", "1e999": none,
	} {
		if got := show(number(text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// Operators are folded only where every language gives the same result.
func TestFoldBinary(t *testing.T) {
	text, one, two := value.FromString, number("1"), number("2")
	for _, c := range []struct {
		op   string
		a, b *value.Value
		want string
	}{
		{"+", text("a"), text("b"), "ab"},
		{"+", text("a"), one, "a1"},
		{"+", one, two, "3"},
		{"-", one, two, "-1"},
		{"**", two, number("10"), "1024"},
		{"*", number("9007199254740991"), two, none}, // a double does not hold it
		{"/", number("4"), two, "2"},
		{"/", one, number("0"), none},
		{"%", number("7"), number("4"), "3"},
		{"<<", one, number("4"), "16"},
		{"<<", one, number("40"), none},
		{"==", one, number("1.0"), "true"},
		{"==", text("1"), one, none}, // languages differ
		{"!=", value.Null, one, "true"},
		{"in", text("b"), text("abc"), "true"},
		{"&&", value.FromBool(true), text("x"), "x"},
		{"||", value.FromBool(true), text("x"), "true"},
		{"??", value.Null, text("x"), "x"},
		{"+", value.Unknown, one, none},
	} {
		if got := show(value.FoldBinary(c.op, c.a, c.b)); got != c.want {
			t.Errorf("%s %s %s is %s, want %s", show(c.a), c.op, show(c.b), got, c.want)
		}
	}
}

func TestFoldUnary(t *testing.T) {
	for _, c := range []struct {
		op   string
		of   *value.Value
		want string
	}{
		{"!", value.FromBool(false), "true"}, {"not", number("1"), "false"}, {"-", number("2.5"), "-2.5"},
		{"~", number("0"), "-1"}, {"typeof", value.FromString("a"), "string"}, {"-", value.FromString("a"), none},
		{"!", value.Unknown, none},
	} {
		if got := show(value.FoldUnary(c.op, c.of)); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.op, show(c.of), got, c.want)
		}
	}
}

func TestFoldTextOperation(t *testing.T) {
	text := value.FromString
	for _, c := range []struct {
		op   string
		args []*value.Value
		want string
	}{
		{"length", []*value.Value{text("né")}, "2"},
		{"upper", []*value.Value{text("a")}, "A"},
		{"trim", []*value.Value{text(" a ")}, "a"},
		{"substring", []*value.Value{text("abcd"), number("3"), number("1")}, "bc"}, // bounds are put in order
		{"slice", []*value.Value{text("abcd"), number("-2")}, "cd"},
		{"char", []*value.Value{text("abc"), number("1")}, "b"},
		{"char", []*value.Value{text("abc"), number("9")}, none},
		{"replace", []*value.Value{text("a-b"), text("-"), text("+")}, "a+b"},
		{"index", []*value.Value{text("abc"), text("x")}, "-1"},
		{"contains", []*value.Value{text("abc"), text("b")}, "true"},
		{"contains", []*value.Value{text("abc"), value.Unknown}, none},
	} {
		if got := show(value.FoldTextOperation(c.op, c.args)); got != c.want {
			t.Errorf("%s is %s, want %s", c.op, got, c.want)
		}
	}
}

// What holds on either of two paths is what both say.
func TestJoin(t *testing.T) {
	a, b := value.FromString("SELECT a"), value.FromString("SELECT b")
	j := value.Join(a, b)
	if j.IsKnown() || j.KnownPrefix() != "SELECT " || j.Kind != value.KindString {
		t.Errorf("joined: known %v, prefix %q, kind %v", j.IsKnown(), j.KnownPrefix(), j.Kind)
	}
	if j = value.Join(a, value.FromString("SELECT a")); show(j) != "SELECT a" {
		t.Errorf("a text joined with its equal is %s", show(j))
	}
	if j = value.Join(nil, a); j != a {
		t.Error("what was not assigned on one path is what the other assigned")
	}
	if j = value.Join(&value.Value{API: "x.Y", Kind: value.KindObject}, value.Null); j.API != "x.Y" {
		t.Errorf("null hides the name %q", j.API)
	}
	if got := value.JoinObjects([]value.ObjectID{1, 4}, []value.ObjectID{2, 4}); !cmp.Equal(got,
		[]value.ObjectID{1, 2, 4}) {
		t.Errorf("objects %v", got)
	}
}

func TestListsForgetPositions(t *testing.T) {
	o := (*value.Object)(nil).Clone()
	o.SetList([]*value.Value{value.FromString("a"), value.FromString("b")})
	list, ok := o.List()
	if !ok || len(list) != 2 || show(list[1]) != "b" {
		t.Fatalf("list %v, %v", list, ok)
	}
	if part, ok := value.CutList(list, number("-1"), nil); !ok || len(part) != 1 || show(part[0]) != "b" {
		t.Errorf("the last element is %v", part)
	}
	if rest := value.RemoveAt(list, "0"); len(rest) != 1 || show(rest[0]) != "b" {
		t.Errorf("without the first: %v", rest)
	}
	c := o.Clone()
	c.ForgetPositions()
	if _, ok := c.List(); ok || c.Elements == nil || len(c.Fields) != 0 {
		t.Errorf("positions are still known: %+v", c)
	}
	if _, ok := o.List(); !ok {
		t.Error("a change of the copy changed the object")
	}
	if o.Same(c) {
		t.Error("a list without positions says less")
	}
}
