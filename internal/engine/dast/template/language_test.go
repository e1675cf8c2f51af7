package template

import (
	"math"
	"strings"
	"testing"
)

// low draws the lowest number of each range, so that what is random can be compared.
func low(low, _ int) int { return low }

// evaluate reads and evaluates an expression.
func evaluate(t *testing.T, text string, v values) (any, error) {
	t.Helper()
	x, err := parseExpression(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return x.root.eval(&evaluation{values: v, number: low})
}

// expectValues evaluates expressions and compares what they give. Lists are compared as
// texts.
func expectValues(t *testing.T, v values, want map[string]any) {
	t.Helper()
	for text, want := range want {
		got, err := evaluate(t, text, v)
		if list, ok := got.([]any); ok {
			got = textOf(list)
		}
		if err != nil || got != want {
			t.Errorf("%s = %#v, %v; want %#v", text, got, err, want)
		}
	}
}

// expectErrors evaluates expressions that can be read, and cannot be evaluated.
func expectErrors(t *testing.T, v values, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got, err := evaluate(t, text, v); err == nil {
			t.Errorf("%s = %#v, want an error", text, got)
		}
	}
}

func TestOperatorsBindByStrength(t *testing.T) {
	expectValues(t, values{"yes": true, "no": false, "n": 6.0}, map[string]any{
		"2 + 3 * 4":                   14.0,
		"(2 + 3) * 4":                 20.0,
		"2 ** 3 ** 2":                 64.0, // from the left
		"-2 ** 2":                     4.0,  // a sign is stronger
		"10 - 4 - 3":                  3.0,
		"n / 4":                       1.5,
		"n % 4":                       2.0,
		"1 + 1 == 2":                  true,
		"no && no || yes":             true,
		"no && (no || yes)":           false,
		"!no && yes":                  true,
		"1 < 2 && 2 <= 2 && 3 > 2":    true,
		"3 >= 4":                      false,
		"yes ? 1 : no ? 2 : 3":        1.0,
		"no ? 1 : no ? 2 : 3":         3.0,
		"[yes] ? 'named' : 'unknown'": "named",
		"missing ?? other ?? 'last'":  "last",
	})
}

func TestOperatorsOnTexts(t *testing.T) {
	expectValues(t, values{"s": "shop", "items": []any{"a", "b"}}, map[string]any{
		`'a' < 'b'`:              true,
		`'b' <= 'a'`:             false,
		`'b' > 'a'`:              true,
		`'a' >= 'a'`:             true,
		`'a' + 'b'`:              "ab",
		`1 + 'b'`:                "1b",
		`'is ' + true`:           "is true",
		`s =~ '^sh'`:             true,
		`s !~ '^sh'`:             false,
		`'a' in items`:           true,
		`'c' in ('a', 'b', 'c')`: true,
		`'c' in 'c'`:             true,
		`items == ('a', 'b')`:    true,
		`items == ('a', 'c')`:    false,
		`items != 'a'`:           true,
		`'1' == 1`:               false, // a text is no number
		`'it\'s'`:                "it's",
		`"a\nb"`:                 "anb", // a backslash has no other meaning
	})
	expectErrors(t, values{"items": []any{"a"}}, `'a' - 'b'`, `true < false`, `items + 1`, `-'a'`, `!'a'`,
		`1 && true`, `true && 1`, `'a' =~ items + '('`)
}

func TestConditionsStopWhereTheyAreDecided(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		"false && missing":  false,
		"true || missing":   true,
		"true ? 1 : absent": 1.0,
	})
	expectErrors(t, values{}, "true && missing", "false || missing", "missing ? 1 : 2")
}

func TestNumbersOfExpressions(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		"0x1f": 31.0, "1.5": 1.5, "1e3": 1000.0, "0b101": 5.0, "0o17": 15.0,
	})
	for _, text := range []string{"1x", "1.2.3", "0xzz"} {
		if _, err := parseExpression(text); err == nil {
			t.Errorf("%s was read as a number", text)
		}
	}
	if got, err := evaluate(t, "1 / 0", nil); err != nil || got != math.Inf(1) {
		t.Errorf("1 / 0 = %v, %v", got, err)
	}
}

func TestExpressionsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "the expression ends too early",
		"1 2":               `"2" stands where the expression should end`,
		"1 +":               "the expression ends too early",
		"+ 1":               `"+" stands where a value should`,
		"(1":                "a ( without a )",
		"a ? b":             "a ? without its other side",
		"'a":                "a string that does not end",
		"a § b":             `'§' is no part of an expression`,
		"[]":                "a [ without a name and a ]",
		"unheard(1)":        `the function "unheard" is not known`,
		"md5('a', 'b')":     "the function md5 does not take 2 arguments",
		"'a' =~ '('":        "regular expression",
		"regex('(', 'a')":   "regular expression",
		"'a' =~ ('(' + 'b'": "a ( without a )",
	} {
		_, err := parseExpression(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{strings.Repeat("!", 100) + "true", strings.Repeat(" ", maxExpression) + "1"} {
		if _, err := parseExpression(text); err == nil {
			t.Errorf("%.10s… was read", text)
		}
	}
}

func TestExpressionsTellTheNamesTheyUse(t *testing.T) {
	x, err := parseExpression(`status_code_1 == 200 && contains(body_2, name) ? [x-y] : 'z'`)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(x.names, " "); got != "status_code_1 body_2 name x-y" {
		t.Errorf("names %q", got)
	}
}

func TestFunctionsOfFlows(t *testing.T) {
	x, err := parseExpression("http(1) && http(2)", "http")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	e := &evaluation{extra: map[string]func([]any) (any, error){"http": func(args []any) (any, error) {
		asked = append(asked, textOf(args[0]))
		return len(asked) < 2, nil
	}}}
	if got, err := x.root.eval(e); err != nil || got != false || strings.Join(asked, " ") != "1 2" {
		t.Errorf("%v, %v after asking %q", got, err, asked)
	}
	if _, err := x.root.eval(&evaluation{}); err == nil {
		t.Error("a function that is not there was called")
	}
}

func TestTextsOfValues(t *testing.T) {
	for want, v := range map[string]any{
		"":            nil,
		"a":           "a",
		"true":        true,
		"12":          12.0,
		"0.5":         0.5,
		"10000000000": 1e10,
		"a,1,b,c":     []any{"a", 1.0, []any{"b", "c"}},
	} {
		if got := textOf(v); got != want {
			t.Errorf("%#v is %q, want %q", v, got, want)
		}
	}
}

func TestFunctionsOfTexts(t *testing.T) {
	expectValues(t, values{"list": []any{"x", "y"}}, map[string]any{
		`to_upper('aé')`:                         "AÉ",
		`toLower ?? 'none'`:                      "none",
		`trim('--a-', '-')`:                      "a",
		`trim_left('--a-', '-')`:                 "a-",
		`trim_right('--a-', '-')`:                "--a",
		`trim_space(' a ')`:                      "a",
		`trim_prefix('v1', 'v')`:                 "1",
		`trim_suffix('a.php', '.php')`:           "a",
		`reverse('añb')`:                         "bña",
		`repeat('ab', 3)`:                        "ababab",
		`replace('aaa', 'a', 'b')`:               "bbb",
		`concat('a', 1, true)`:                   "a1true",
		`join(' ', list)`:                        "x y",
		`split('a,b,c', ',', 2)`:                 "a,b,c",
		`len(split('a,b,c', ',', 2))`:            2.0,
		`len(list)`:                              2.0,
		`len('é')`:                               2.0, // bytes
		`index(list, 1)`:                         "y",
		`index('abc', 2)`:                        "c",
		`substr('abcdef', 2)`:                    "cdef",
		`substr('abcdef', -2)`:                   "ef",
		`substr('abcdef', 0, -1)`:                "abcde",
		`sort('bca')`:                            "abc",
		`sort('b', 'a')`:                         "a,b",
		`uniq('abab')`:                           "ab",
		`uniq('a', 'b', 'a')`:                    "a,b",
		`padding('a', '01', 4, 'suffix')`:        "a010",
		`padding('abc', '0', 2, 'prefix')`:       "abc",
		`to_title('shop')`:                       "Shop",
		`to_title('')`:                           "",
		`to_bool('true')`:                        true,
		`remove_bad_chars('a-b_c', '-_')`:        "abc",
		`json_minify('{ "a" : 1 }')`:             `{"a":1}`,
		`json_prettify('{"a":1}')`:               "{\n    \"a\": 1\n}",
		`count('a,b,c', ',')`:                    2.0,
		`starts_with('abc', 'x', 'ab')`:          true,
		`ends_with('abc', 'x', 'bc')`:            true,
		`equals_any('a', 'b', 'a')`:              true,
		`contains_all('abc', 'a', 'd')`:          false,
		`contains_any('abc', 'e', 'd')`:          false,
		"line_ends_with('a: 1\r\nb: 2', 'a: 1')": true,
		"line_starts_with('a\nb', 'c')":          false,
		`regex_all('abc', 'a', 'd')`:             false,
		`regex_any('abc', 'd', 'c$')`:            true,
		`replace_regex('a1b22', '\\d+', '-')`:    "a-b-",
		`print_debug('anything')`:                true,
	})
	expectErrors(t, values{"list": []any{"x"}}, `repeat('a', 'b')`, `repeat('a', -1)`, `index(list, 1)`,
		`index('a', 5)`, `index('a', 'b')`, `substr('abc', 2, 1)`, `substr('abc', 'x')`, `substr('abc', 0, 9)`,
		`padding('a', '', 3, 'prefix')`, `padding('a', 'b', 'c', 'prefix')`, `to_bool('perhaps')`,
		`to_number('many')`, `json_minify('{')`, `split('a', ',', 'x')`, `regex_any('a', '(')`,
		`regex_all('a', '(')`, `replace_regex('a', '(', 'b')`)
}

func TestFunctionsOfEncodings(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		`base64_decode('YQ')`:            "a", // without the padding
		`base64_decode('-_8=')`:          "\xfb\xff",
		`hex_decode('4142')`:             "AB",
		`url_decode('a%20b+c')`:          "a b c",
		`html_escape('<a>')`:             "&lt;a&gt;",
		`html_unescape('&lt;a&gt;')`:     "<a>",
		`sha1('a')`:                      "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
		`dec_to_hex('255')`:              "ff",
		`hex_to_dec('0xFF')`:             255.0,
		`oct_to_dec('17')`:               15.0,
		`bin_to_dec('101')`:              5.0,
		`len(base64_py(repeat('a',60)))`: 82.0, // two lines, each with its end
	})
	expectErrors(t, values{}, `hex_decode('xyz')`, `url_decode('%zz')`, `xor('a', 'bc')`, `gzip_decode('no')`,
		`zlib_decode('no')`, `inflate('no')`, `dec_to_hex('many')`, `hmac('crc32', 'a', 'b')`)
}

func TestTokensAreSigned(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		`generate_jwt('{"a":1}')`:         "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhIjoxfQ.",
		`generate_jwt('{"a":1}', 'none')`: "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhIjoxfQ.",
		`base64_decode(index(split(generate_jwt('{"a":1}', 'HS512', 'k', 99), '.'), 1))`: `{"a":1,"exp":99}`,
		`len(split(generate_jwt('{}', 'hs384', 'k'), '.'))`:                              3.0,
	})
	expectErrors(t, values{}, `generate_jwt('no JSON')`, `generate_jwt('{}', 'RS256', 'k')`)
}

func TestRandomFunctions(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		`rand_base(2)`:                 "aa",
		`rand_base(3, 'xyz')`:          "xxx",
		`rand_char('q')`:               "q",
		`rand_text_numeric(2)`:         "00",
		`rand_text_alpha(2, 'abc')`:    "dd", // the bad ones are left out
		`rand_text_alphanumeric('3')`:  "aaa",
		`rand_int(7)`:                  7.0,
		`rand_ip('192.168.0.0/24')`:    "192.168.0.1",
		`unix_time(10) >= unix_time()`: true,
	})
	expectErrors(t, values{}, `rand_int(9, 5)`, `rand_int('low')`, `rand_ip('::1')`, `rand_base('many')`,
		`unix_time('soon')`)
}

func TestFunctionsOfTimes(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		`to_unix_time('1700000000')`:              1.7e9,
		`to_unix_time('1970-01-02')`:              86400.0,
		`to_unix_time('1970-01-01 00:01')`:        60.0,
		`to_unix_time('1970-01-01T00:00:05Z')`:    5.0,
		`to_unix_time('02.01.70', '02.01.06')`:    86400.0,
		`date_time('%Y-%M-%D %H:%m:%S', 86461)`:   "1970-01-02 00:01:01",
		`date_time('%D.%M.', to_number('86400'))`: "02.01.",
	})
	expectErrors(t, values{}, `to_unix_time('yesterday')`, `date_time('%Y', 'soon')`)
}

func TestVersionsAreOrdered(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"1.0", "1.0", 0},
		{"1.0", "1.0.0", 0},
		{"v1.2", "1.10", -1},
		{"2", "1.99", 1},
		{"1.0-rc1", "1.0", -1},
		{"1.0", "1.0-beta", 1},
		{"1.0-alpha", "1.0-beta", -1},
		{"1.0+build5", "1.0", 0},
		{" 1.0 ", "1.0", 0},
		{"99999999999999999999999", "18446744073709551615", 0}, // beyond what is counted
	} {
		if got, err := orderVersions(tt.a, tt.b); err != nil || got != tt.want {
			t.Errorf("%s and %s: %d, %v, want %d", tt.a, tt.b, got, err, tt.want)
		}
	}
	for _, v := range []string{"", "latest", "1..2", "a.b"} {
		if got, err := orderVersions(v, "1.0"); err == nil {
			t.Errorf("%q was ordered: %d", v, got)
		}
	}
}

func TestVersionConstraints(t *testing.T) {
	expectValues(t, values{}, map[string]any{
		`compare_versions('1.2.3', '1.2.3')`:           true,
		`compare_versions('1.2.3', '=1.2.4')`:          false,
		`compare_versions('1.2.3', '!= 1.2.4')`:        true,
		`compare_versions('1.2.3', '>= 1.0, < 1.2')`:   false,
		`compare_versions('1.2.3', '> 1.2', '<= 2')`:   true,
		`compare_versions('1.3', '~> 1.2')`:            true,
		`compare_versions('2.0', '~> 1.2')`:            false,
		`compare_versions('1.1', '~> 1.2')`:            false,
		`compare_versions('5', '~> 1')`:                false,
		`compare_versions('1.2.3-rc1', '>= 1.2.3')`:    false,
		`compare_versions('1.2.3+meta', '>= 1.2.3')`:   true,
		`compare_versions('v1.2.3', '<= v1.2.3-ga')`:   false,
		`compare_versions('1.2.3', '>1.2.2','<1.2.4')`: true,
	})
	expectErrors(t, values{}, `compare_versions('1.0', 'about 2')`, `compare_versions('latest', '> 1')`,
		`compare_versions('1.0', '>')`)
}

func TestValuesInsideOfExpressionsStayThere(t *testing.T) {
	e := &evaluation{values: values{"name": `a') + to_upper('b`, "plain": "c"}, number: low}
	for text, want := range map[string]string{
		`{{to_lower('{{name}}')}}`:      `a') + to_upper('b`,
		`{{concat('{{plain}}','d')}}`:   "cd",
		`{{plain}}{{plain}}`:            "cc",
		`{{ plain }}`:                   "c",
		`{{plain + 'x'}}`:               "cx",
		`{{'x' + 'y'}}`:                 "{{'x' + 'y'}}", // neither a value nor a function
		`{{len("}}")}}`:                 "2",
		`a {{ b`:                        "a {{ b",
		`{{md5()}} and {{plain}}`:       "{{md5()}} and c",
		`{{md5(1}} }} }} {{plain}}`:     "{{md5(1}} }} }} c",
		`{{index(split(plain,','),9)}}`: "{{index(split(plain,','),9)}}",
	} {
		if got, missing := fillExpressions(text, e); got != want || missing != "" {
			t.Errorf("%s: %q, %q, want %q", text, got, missing, want)
		}
	}
	for text, want := range map[string]string{
		"{{absent}} {{later}}": "absent", // the first
		"{{to_upper(absent)}}": "absent",
		"{{a-b}}":              "a-b",
	} {
		if _, missing := fillExpressions(text, e); missing != want {
			t.Errorf("%s: %q has no value, want %q", text, missing, want)
		}
	}
}
