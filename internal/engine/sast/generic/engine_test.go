package generic

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merlon/internal/engine/sast/rule"
)

// An engineCase is a pattern with the matches of a text. Options are "space" for the first engine,
// "style:x" for it with the comments of that style, and "alien", "lines" or "caseless" for the
// second one.
type engineCase struct {
	options, name, pattern, text string
	want                         []string
}

// TestEngines matches patterns such as rules for configuration and markup have.
func TestEngines(t *testing.T) {
	for _, c := range engineCases {
		t.Run(c.options+", "+c.name, func(t *testing.T) {
			got, err := c.matches()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, say(c.text, got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// matches runs the engine of the case.
func (c *engineCase) matches() ([]Match, error) {
	style, styled := strings.CutPrefix(c.options, "style:")
	if styled || c.options == "space" {
		p, err := Parse(c.pattern, 10)
		if err != nil {
			return nil, err
		}
		if !styled {
			style = ""
		}
		found, _ := p.Find(NewDocument(c.text, style))
		return found, nil
	}
	a, err := parseAlien(c.pattern, alienOptions(func(o *rule.Options) {
		o.GenericMultiline, o.GenericCaseless = c.options != "lines", c.options == "caseless"
	}))
	if err != nil {
		return nil, err
	}
	return a.findMatches(c.text)
}

// Texts that several patterns are matched with.
const (
	nginxText = `server {
  listen 80;
  location /a {
    proxy_pass http://a;
  }
  location /b {
    root /srv;
  }
}
`
	dockerText = `FROM alpine:3.1
RUN apk add curl
USER root
CMD ["run"]
`
	resourceText = `resource "bucket" "b" {
  acl = "public"
  tags {
    name = "x"
  }
}
resource "bucket" "c" {
  acl = "private"
}
`
)

var engineCases = []engineCase{
	{"space", "a directive of a block", `location ... {
  ...
  proxy_pass $...URL;
  ...
}`, nginxText, []string{`location /a {
    proxy_pass http://a;
  } $...URL=" http://a"`}},
	{"space", "a block with one directive", `location ... {
  root $D;
}`, `server {
  listen 80;
  location /a {
    proxy_pass http://a;
  }
  location /b {
    root srv;
  }
}
`, []string{`location /b {
    root srv;
  } $D="srv"`}},
	{"space", "a directive anywhere", "listen $PORT;", nginxText, []string{`listen 80; $PORT="80"`}},
	{"space", "from the first to the last", "server { ... }", nginxText, []string{`server {
  listen 80;
  location /a {
    proxy_pass http://a;
  }`}},
	{"space", "an instruction", "FROM $IMAGE:$...TAG\nRUN", dockerText,
		[]string{"FROM alpine:3.1\nRUN $...TAG=\"3.1\" $IMAGE=\"alpine\""}},
	{"space", "two instructions with others between", "FROM ... USER root", dockerText, []string{`FROM alpine:3.1
RUN apk add curl
USER root`}},
	{"space", "an instruction with brackets", `CMD ["$C"]`, dockerText, []string{`CMD ["run"] $C="run"`}},
	{"space", "a value of a resource", `resource "bucket" "$NAME" { ... acl = "public" ... }`, resourceText,
		[]string{`resource "bucket" "b" {
  acl = "public"
  tags {
    name = "x"
  } $NAME="b"`}},
	{"space", "a value in quotes", `acl = "$ACL"`, resourceText,
		[]string{`acl = "public" $ACL="public"`, `acl = "private" $ACL="private"`}},
	{"space", "a value of an inner block", `tags {
  name = ...
}`, resourceText, []string{`tags {
    name = "x"
  }`}},
	{"space", "an element", `<a id="$ID">`, `<a id="1"><b>text</b></a>
<a id="2"></a>
`, []string{`<a id="1"> $ID="1"`, `<a id="2"> $ID="2"`}},
	{"space", "an element with another in it", "<a ...> <b> ... </b>", `<a id="1"><b>text</b></a>
<a id="2"></a>
`, []string{`<a id="1"><b>text</b>`}},
	{"space", "an equal name at the end", "<$T>...</$T>", `<a id="1"><b>text</b></a>
<a id="2"></a>
`, []string{`<b>text</b> $T="b"`}},
	{"space", "a sign of its own", "a && b", "a && b; a & b; a &&b", []string{"a && b", "a &&b"}},
	{"space", "digits and letters", "x1", "x1 x 1 x1y", []string{"x1"}},
	{"space", "underscores", "$X_NAME", "a_NAME $X_NAME",
		[]string{`a_NAME $X_NAME="a_NAME"`, `X_NAME $X_NAME="X_NAME"`}},
	{"space", "a metavariable with a digit", "$X1 $X2", "a b c",
		[]string{`a b $X1="a" $X2="b"`, `b c $X1="b" $X2="c"`}},
	{"space", "a word that is no metavariable", "$x", "$x", []string{"$x"}},
	{"space", "the same metavariable three times", "$A $A $A", "b b b b a", []string{`b b b $A="b"`, `b b b $A="b"`}},
	{"space", "an ellipsis between signs", "( ... )", "(a (b) c) ()", []string{"(b)", "()"}},
	{"space", "an ellipsis of nothing", "a ... b", "a b", []string{"a b"}},
	{"space", "two ellipses", "a ... b ... c", "a x b y c", []string{"a x b y c"}},
	{"space", "a named ellipsis at the end", "key: $...VALUE", `key: a b
next: c
`, []string{"key: a b\nnext: c $...VALUE=\" a b\\nnext: c\""}},
	{"space", "a named ellipsis in brackets", "[$...ALL]", "[a, [b], c]", []string{`[b] $...ALL="b"`}},
	{"space", "a quote is no brace", `"..."`, `x "a b" y`, []string{`"a b"`}},
	{"space", "empty lines", "a\nb", `a


b`, []string{`a


b`}},
	{"space", "nothing to find", "zzz", "a b c", []string{}},
	{"space", "an empty text", "a", "", []string{}},
	{"space", "letters of other alphabets", "straße $X", "straße lang", []string{`straße lang $X="lang"`}},
	{"space", "a line comment of a shell", "a\nb", "a\n", []string{}},
	{"style:shell", "a comment of a shell", "a b", "a # c d\nb", []string{"a # c d\nb"}},
	{"style:cpp", "both comments of C++", "a b c", "a /* x */ b // y\nc", []string{"a /* x */ b // y\nc"}},
	{"style:c", "no comment in C", "a b", "a // x\nb", []string{}},
	{"alien", "a pair of brackets", "f(...)", "f(a, [b], {c}) f(')')", []string{"f(a, [b], {c})", "f(')"}},
	{"alien", "a pair in quotes", `f("...")`, `f("a (") f("b")`, []string{`f("b")`}},
	{"alien", "a metavariable in quotes", `k = "$V"`, `k = "v" k = "v w"`, []string{`k = "v" $V="v"`}},
	{"alien", "an ellipsis in quotes", `k = "$...V"`, `k = "v w" j = "x"`, []string{`k = "v w" $...V="v w"`}},
	{"alien", "the same word twice", "<$T>...</$T>", "<a>x</a> <b>y</c>", []string{`<a>x</a> $T="a"`}},
	{"alien", "the same ellipsis twice", "a($...X) b($...X)", "a(1, 2) b(1, 2) a(1) b(2)",
		[]string{`a(1, 2) b(1, 2) $...X="1, 2"`}},
	{"alien", "words of the pattern are whole", "ab", "abc ab xab", []string{"ab"}},
	{"alien", "signs need no white space", "a=b", `a = b a=b a
=
b`, []string{"a = b", "a=b", `a
=
b`}},
	{"alien", "white space of the pattern", "a  b", `a b
a
b ab`, []string{"a b", "a\nb"}},
	{"alien", "an ellipsis of nothing", "f(...)", "f()", []string{"f()"}},
	{"alien", "an ellipsis over lines", "begin ... end", `begin
 a
 b
end`, []string{`begin
 a
 b
end`}},
	{"lines", "an ellipsis within a line", "begin ... end", "begin\nend begin a end", []string{"begin a end"}},
	{"lines", "a metavariable at the end of a line", "set $X $Y", "set a\nb set c d",
		[]string{`set c d $X="c" $Y="d"`}},
	{"lines", "two lines", "a $X\nb $Y", `a 1
b 2
a 3 b 4`, []string{"a 1\nb 2 $X=\"1\" $Y=\"2\""}},
	{"lines", "a long ellipsis over lines", "a .... b", `a
x
b`, []string{`a
x
b`}},
	{"lines", "a named long ellipsis", "a $....X b", `a
x
b`, []string{`a
x
b $...X="x"`}},
	{"caseless", "a word", "Select ... From", "SELECT a from b", []string{"SELECT a from"}},
	{"caseless", "a metavariable stays as it is", "$A = $A", "Ab = aB x = x", []string{`x = x $A="x"`}},
	{"alien", "dots that are no ellipsis", "a..b", "a..b a.b", []string{"a..b"}},
	{"alien", "a dollar alone", "$ a", "$ a", []string{"$ a"}},
	{"alien", "a metavariable alone", "$X", "a b-c", []string{`a $X="a"`, `b $X="b"`, `c $X="c"`}},
	{"alien", "an unbalanced bracket in the text", "a ... b", "a ( b", []string{"a ( b"}},
	{"alien", "a bracket of another kind", "( ... )", "( [ ) ]", []string{}},
	{"alien", "expressions are taken as text", "a.*b+", "a.*b+ axxb", []string{"a.*b+"}},
}
