package authz

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"merlon/internal/engine/api/apispec"
	"merlon/internal/engine/api/requestgen"
	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file finds the values that give a user more than he has, for tests of mass assignment
// and of promotion.

// privileged matches normalized names of properties that decide what a user may do (flags, roles),
// or what he has (balances).
var privileged = lazyregexp.New(`^(is|has)?(super|site|sys)?(admin|administrator|superuser|root|staff|moderator|privileged|verified|emailverified|approved|trusted|premium|vip)$` +
	`|^(user|account)?(role|roles|roleid|group|groups|permission|permissions|privilege|privileges|scope|scopes|accesslevel|usertype|accounttype|plan|tier)$` +
	`|^(account|wallet)?(balance|credit|credits|points)$`)

// elevates matches values of roles that give more than those of ordinary users.
var elevates = lazyregexp.New(`(?i)admin|super|root|staff|employee|manager|moderator|owner|operator|internal|support`)

// listedValues returns the other values that the description lists for properties of the name, if
// it lists v; those that give more come first.
func (e *examination) listedValues(name, v string) []string {
	var out []string
	for _, o := range e.Operations {
		for _, m := range o.Bodies {
			out = appendListed(out, m.Schema, name, v, 0)
		}
		for _, r := range o.Responses {
			for _, m := range r.Bodies {
				out = appendListed(out, m.Schema, name, v, 0)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[elevates.MatchString(a)],
			map[bool]int{true: 0, false: 1}[elevates.MatchString(b)])
	})
	return out
}

// maxSchemaDepth bounds the nesting of schemas; recursive ones would have no end.
const maxSchemaDepth = 4

// appendListed adds the values that a schema lists for the property beside v. The first
// schema that lists any is enough.
func appendListed(out []string, s *apispec.Schema, name, v string, depth int) []string {
	if s == nil || depth > maxSchemaDepth || len(out) > 0 {
		return out
	}
	flat := requestgen.Flat(s)
	out = appendListed(out, flat.Items, name, v, depth+1)
	for _, p := range flat.Properties {
		values := requestgen.Flat(p.Schema).Enum
		if normalizeName(p.Name) == normalizeName(name) &&
			slices.ContainsFunc(values, func(one any) bool { return one == v }) {
			for _, one := range values {
				if text, is := one.(string); is && text != v {
					out = append(out, text)
				}
			}
		}
		out = appendListed(out, p.Schema, name, v, depth+1)
	}
	return out
}

// escalatedValue returns a value of the same type that gives more than v; nil: none is
// known. A value that gives less would prove nothing.
func (e *examination) escalatedValue(name string, v any) any {
	switch v := v.(type) {
	case bool:
		if !v {
			return true
		}
	case string:
		return e.escalatedText(name, v)
	case json.Number:
		for _, word := range []string{"balance", "credit", "point"} {
			if strings.Contains(normalizeName(name), word) && v.String() != enough.String() {
				return enough
			}
		}
	}
	return nil
}

// escalatedText returns a text that gives more than v: one that the description lists, the
// role of the highest user that was given, or else the usual word in the same letter case.
func (e *examination) escalatedText(name, v string) any {
	if list := e.listedValues(name, v); len(list) > 0 {
		return list[0] // others would be refused, or break the object
	}
	if above := e.highestRole(name); above != "" && above != v {
		return above
	}
	switch {
	case strings.EqualFold(v, "admin"):
	case v != "" && strings.ToUpper(v) == v && strings.ToLower(v) != v:
		return "ADMIN"
	case strings.Trim(v, "0123456789.") != "":
		return "admin"
	}
	return nil
}

// highestRole returns the text that the API shows the given user of the highest role of himself
// under the name, such as his role; "" where there is none. Only operations are asked that
// take nothing.
func (e *examination) highestRole(name string) string {
	if e.titles == nil {
		e.titles = map[string]string{}
		if high, low := e.extremeRoles(); low != nil {
			e.collectTitles(high)
		}
	}
	return e.titles[normalizeName(name)]
}

// collectTitles records the short texts of the objects that name the user of the highest
// role, by property.
func (e *examination) collectTitles(high *User) {
	asked := 0
	for _, o := range e.Operations {
		if asked == maxShown {
			break
		}
		if !o.isFixedRead() || o.Answer == nil {
			continue
		}
		r, err := e.buildRequest(o, false, knowNothing, nil)
		if err != nil {
			continue
		}
		asked++
		resp, err := e.sendAs(r, high)
		if err != nil || !isSuccess(resp) {
			continue
		}
		v := message.DecodeJSON(resp.Body)
		for _, self := range high.userNames() {
			for _, object := range objectsHolding(v, self) {
				for name, v := range object {
					if text, is := v.(string); is && text != "" && len(text) <= maxTitle {
						e.titles[normalizeName(name)] = text
					}
				}
			}
		}
	}
}

// maxTitle bounds the length of a role's name; longer texts are descriptions.
const maxTitle = 40

// enough is a balance that no new account has.
const enough = json.Number("10007")

// privilegedProperties returns the properties of the object that users should not set, because the
// operation's body does not name them or marks them as readOnly, each with a value that gives more.
func (e *examination) privilegedProperties(o *Operation, shown map[string]any) map[string]any {
	out := map[string]any{}
	body := o.bodySchema()
	for name, v := range shown {
		if !privileged.MatchString(normalizeName(name)) {
			continue
		}
		if p := body.Property(name); p != nil && !p.ReadOnly {
			continue
		}
		if with := e.escalatedValue(name, v); with != nil {
			out[name] = with
		}
	}
	return out
}
