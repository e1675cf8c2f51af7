package codeinjection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// interpreter runs expressions of a small language: texts in two kinds of quotes,
// numbers, products, remainders, differences and functions, joined by a sign. With
// statements it prints, and knows comments.
type interpreter struct {
	join string // of texts
	str  bool   // a number is text only by str(), and a text times a number is a text
	text string
	out  strings.Builder
}

var errProgram = errors.New("syntax error, or no such operation")

func (in *interpreter) accept(s string) bool {
	in.text = strings.TrimLeft(in.text, " \n")
	rest, ok := strings.CutPrefix(in.text, s)
	if ok {
		in.text = rest
	}
	return ok
}

// expression evaluates a whole text.
func (in *interpreter) expression(text string) (any, error) {
	in.text = text
	v, err := in.sum()
	if err == nil && !in.accept("") || strings.TrimSpace(in.text) != "" {
		return nil, errProgram
	}
	return v, err
}

// program runs statements, and returns what they print.
func (in *interpreter) program(text string) (string, error) {
	in.text = text
	for strings.TrimSpace(in.text) != "" {
		switch {
		case in.accept("#"):
			_, in.text, _ = strings.Cut(in.text, "\n")
		case in.accept(";"):
		default:
			if _, err := in.sum(); err != nil {
				return "", err
			}
		}
	}
	return in.out.String(), nil
}

func (in *interpreter) sum() (any, error) {
	left, err := in.product()
	for err == nil {
		switch {
		case in.accept(in.join):
			var right any
			if right, err = in.product(); err == nil {
				left, err = in.add(left, right)
			}
		case in.accept("-"):
			var right any
			if right, err = in.product(); err == nil {
				a, one := left.(int)
				b, two := right.(int)
				if left = a - b; !one || !two {
					err = errProgram
				}
			}
		default:
			return left, nil
		}
	}
	return nil, err
}

func (in *interpreter) add(left, right any) (any, error) {
	a, one := left.(int)
	b, two := right.(int)
	switch {
	case one && two && in.join == "+":
		return a + b, nil
	case in.str && (one || two):
		return nil, errProgram
	}
	return fmt.Sprint(left) + fmt.Sprint(right), nil
}

func (in *interpreter) product() (any, error) {
	left, err := in.factor()
	for err == nil {
		operator := ""
		for _, o := range []string{"*", "%"} {
			if in.accept(o) {
				operator = o
				break
			}
		}
		if operator == "" {
			return left, nil
		}
		var right any
		if right, err = in.factor(); err != nil {
			return nil, err
		}
		s, text := left.(string)
		a, one := left.(int)
		b, two := right.(int)
		switch {
		case operator == "*" && text && two && in.str:
			left = strings.Repeat(s, b)
		case !one || !two || operator == "%" && b == 0:
			return nil, errProgram
		case operator == "*":
			left = a * b
		default:
			left = a % b
		}
	}
	return nil, err
}

func (in *interpreter) factor() (any, error) {
	in.accept("")
	for _, quote := range []string{"'", `"`} {
		if in.accept(quote) {
			value, rest, ok := strings.Cut(in.text, quote)
			if in.text = rest; !ok {
				return nil, errProgram
			}
			return value, nil
		}
	}
	n := len(in.text) - len(strings.TrimLeft(in.text, "0123456789"))
	if n > 0 {
		number, err := strconv.Atoi(in.text[:n])
		in.text = in.text[n:]
		return number, err
	}
	name := in.text[:len(in.text)-len(strings.TrimLeft(in.text, "abcdefghijklmnopqrstuvwxyz"))]
	in.text = in.text[len(name):]
	if !in.accept("(") {
		return nil, errProgram
	}
	v, err := in.sum()
	if in.accept(","); err == nil && name == "min" {
		_, err = in.sum()
	}
	if err != nil || !in.accept(")") {
		return nil, errProgram
	}
	switch name {
	case "", "min":
		return v, nil
	case "str":
		return fmt.Sprint(v), nil
	case "ord":
		return int(fmt.Sprint(v)[0]), nil
	case "print":
		fmt.Fprint(&in.out, v)
		return 1, nil
	}
	return nil, errProgram
}
