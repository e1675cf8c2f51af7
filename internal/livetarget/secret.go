package livetarget

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"merlon/internal/errs"
	"merlon/internal/scan"
)

// This file knows which parts of a target are secret.

// eachSecret replaces every secret of the identity by what replace returns for its
// name and value. The names are those of the JSON members and are shown to users; a new kind
// of secret must be added here, or it would be shown.
func eachSecret(i *scan.Identity, replace func(name, value string) string) {
	i.Bearer = replace("bearer", i.Bearer)
	i.Cookie = replace("cookie", i.Cookie)
	i.TOTP = replace("totp", i.TOTP)
	eachHeader(i.Header, replace)
	if f := i.Form; f != nil {
		f.Password = replace("form.password", f.Password)
		// Sorted, so that lists of names are the same each time.
		for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
			f.Fields[name] = replace("form.fields."+name, f.Fields[name])
		}
	}
	if j := i.JSON; j != nil {
		j.Body = scan.LoginBody(replace("json.body", string(j.Body)))
	}
	if o := i.OAuth; o != nil {
		o.ClientSecret = replace("oauth.clientSecret", o.ClientSecret)
		o.Refresh = replace("oauth.refresh", o.Refresh)
		o.Password = replace("oauth.password", o.Password)
	}
	if b := i.Basic; b != nil {
		b.Password = replace("basic.password", b.Password)
	}
	for n := range i.Steps {
		i.Steps[n].Value = replace("steps."+strconv.Itoa(n)+".value", i.Steps[n].Value)
	}
}

// eachHeader replaces the value of every header by what replace returns.
func eachHeader(headers []scan.Header, replace func(name, value string) string) {
	for n := range headers {
		headers[n].Value = replace("header."+headers[n].Name, headers[n].Value)
	}
}

// eachAddress replaces every address of the target but its base by what replace returns.
func eachAddress(t *scan.Target, replace func(string) string) {
	for _, list := range [][]string{t.Seeds, t.Include, t.Exclude} {
		for n := range list {
			list[n] = replace(list[n])
		}
	}
	for _, list := range [][]scan.Description{t.Descriptions, t.Templates} {
		for n := range list {
			list[n].URL = replace(list[n].URL)
		}
	}
	for n := range t.Identities {
		i := &t.Identities[n]
		i.Marker.URL = replace(i.Marker.URL)
		if i.Form != nil {
			i.Form.URL = replace(i.Form.URL)
		}
		if i.JSON != nil {
			i.JSON.URL = replace(i.JSON.URL)
		}
		if o := i.OAuth; o != nil {
			o.Issuer, o.Authorize, o.Token, o.Redirect = replace(o.Issuer), replace(o.Authorize), replace(o.Token),
				replace(o.Redirect)
		}
		for k := range i.Steps {
			i.Steps[k].Open = replace(i.Steps[k].Open)
		}
	}
}

// MaskAddresses takes credentials out of the addresses of a target.
func MaskAddresses(t *scan.Target) { eachAddress(t, scan.MaskAddress) }

// restoreAddresses puts the credentials back into addresses that are as Shown has told them. They go
// where they went before: all else of the address is the same.
func restoreAddresses(next, stored *scan.Target) {
	whole := map[string]string{}
	eachAddress(deepCopy(stored), func(text string) string {
		if masked := scan.MaskAddress(text); masked != text {
			whole[masked] = text
		}
		return text
	})
	eachAddress(next, func(text string) string {
		if of, ok := whole[text]; ok {
			return of
		}
		return text
	})
}

// RedactSecrets returns the target without its secrets and without texts of descriptions and
// templates, and the names of the secrets that are set: by identity, those of the
// target's own headers under the empty name.
func RedactSecrets(whole *scan.Target) (scan.Target, map[string][]string) {
	out := deepCopy(whole)
	kept := map[string][]string{}
	forget := func(of string) func(name, value string) string {
		return func(name, value string) string {
			if value != "" {
				kept[of] = append(kept[of], name)
			}
			return ""
		}
	}
	eachHeader(out.Headers, forget(""))
	for n := range out.Identities {
		eachSecret(&out.Identities[n], forget(out.Identities[n].Name))
	}
	for _, list := range [][]scan.Description{out.Descriptions, out.Templates} {
		for n := range list {
			list[n].Text = ""
		}
	}
	MaskAddresses(out)
	// Routes are filled in for one scan and are not part of the stored target.
	out.Routes = nil
	return *out, kept
}

// MergeSecrets fills the secrets and texts that next leaves out from the same places of the
// stored target. A secret is only taken over while it goes where it went before: when
// the address, the included addresses, or what else an identity says of its sign-in is
// another one, the secret has to be given again, so that nobody who may change a
// target learns what others have stored in it. Then the error is Invalid.
func MergeSecrets(next, stored *scan.Target) error {
	restoreAddresses(next, stored)
	same := next.URL == stored.URL && slices.Equal(next.Include, stored.Include)
	old, _ := RedactSecrets(stored)
	now, _ := RedactSecrets(next)
	if err := mergeHeaders(next.Headers, stored.Headers, same &&
		reflect.DeepEqual(now.Headers, old.Headers)); err != nil {
		return err
	}
	for n := range next.Identities {
		i := &next.Identities[n]
		at := slices.IndexFunc(stored.Identities, func(s scan.Identity) bool { return s.Name == i.Name })
		if at < 0 {
			continue
		}
		values := map[string]string{}
		before := deepCopy(&stored.Identities[at])
		eachSecret(before, func(name, value string) string { values[name] = value; return "" })
		// Compared without secrets: everything that decides where and how the sign-in sends them.
		keep := same && reflect.DeepEqual(now.Identities[n], old.Identities[at])
		missing := ""
		eachSecret(i, func(name, value string) string {
			if value == "" && values[name] != "" {
				if !keep {
					missing = name
				}
				return values[name]
			}
			return value
		})
		if missing != "" {
			return errSecretMissing("identity "+strconv.Quote(i.Name), missing)
		}
	}
	mergeDescriptions(next.Descriptions, stored.Descriptions)
	mergeDescriptions(next.Templates, stored.Templates)
	return nil
}

// mergeHeaders takes values of headers over.
func mergeHeaders(next, stored []scan.Header, keep bool) error {
	for n := range next {
		if next[n].Value != "" {
			continue
		}
		at := slices.IndexFunc(stored, func(h scan.Header) bool { return h.Name == next[n].Name && h.Value != "" })
		switch {
		case at >= 0 && !keep:
			return errSecretMissing("the target", "header "+next[n].Name)
		case at >= 0:
			next[n].Value = stored[at].Value
		}
	}
	return nil
}

// mergeDescriptions takes texts over that are found by their name.
func mergeDescriptions(next, stored []scan.Description) {
	for n := range next {
		if next[n].Text != "" || next[n].URL != "" {
			continue
		}
		if at := slices.IndexFunc(stored, func(d scan.Description) bool { return d.Name == next[n].Name }); at >= 0 {
			next[n].Text = stored[at].Text
		}
	}
}

// errSecretMissing is the error for a masked secret without a stored value: the client sent back
// a mask after it renamed the field.
func errSecretMissing(of, name string) error {
	return errs.E(errs.Invalid, "%s: %s has to be given again, because what it is sent to or with has changed", of,
		name)
}

// deepCopy returns a deep copy.
func deepCopy[T any](v *T) *T {
	text, err := json.Marshal(v)
	out := new(T)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(fmt.Sprintf("target: a %T has no JSON form: %v", v, err)) // it holds texts and numbers only
	}
	return out
}
