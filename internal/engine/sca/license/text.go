package license

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"merlon/internal/lazyregexp"
)

// This file recognises the texts of licences. The library compares whole texts; what
// it does not know, because it is younger or written in several ways, has a title.

// covered is the share of a text, in percent, that must be a licence.
const covered = 75

// OfText returns the expression of the text of a licence, or "". The first call
// takes most of a second, in which the library prepares itself.
func OfText(text []byte) (expression string, err error) {
	defer func() { // the library is written for texts of people
		if v := recover(); v != nil {
			err = fmt.Errorf("recognise a licence: %v", v)
		}
	}()
	found := licensecheck.Scan(text)
	var ids []string
	for _, m := range found.Match {
		if !m.IsURL && !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	if found.Percent < covered || len(ids) == 0 {
		return byTitle(text), nil
	}
	ids = narrowestIDs(ids)
	for i, id := range ids {
		if undated.MatchString(id) {
			ids[i] = id + "-only"
		}
	}
	if len(ids) == 1 && strings.Contains(ids[0], "GPL-") {
		ids[0] += grantedException(text)
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND "), nil
}

// undated matches what SPDX now writes with -only or -or-later.
var undated = lazyregexp.New(`^(?:A?GPL|LGPL|GFDL)-[0-9]\.[0-9]$`)

// narrowestIDs leaves out the licences of which another one says more: of the text with
// the notice "or any later version" that is GPL-3.0 beside GPL-3.0-or-later.
func narrowestIDs(ids []string) []string {
	var out []string
	for _, id := range ids {
		if !slices.ContainsFunc(ids, func(other string) bool { return strings.HasPrefix(other, id+"-") }) {
			out = append(out, id)
		}
	}
	return out
}

// titleWithin bounds where the title of a licence stands, in characters without
// line breaks and signs.
const titleWithin = 1500

// signs matches what licenses are compared without.
var signs = lazyregexp.New(`[^a-z0-9.]+`)

// titles gives licences by words near their beginning, and words anywhere.
var titles = []struct{ id, title, within string }{
	{"Elastic-2.0", "elastic license 2.0", "hosted or managed service"},
	{"SSPL-1.0", "server side public license", "offering the program as a service"},
	{"BUSL-1.1", "business source license 1.1", "change date"},
	{"PolyForm-Noncommercial-1.0.0", "polyform noncommercial license 1.0.0", "noncommercial"},
	{"PolyForm-Small-Business-1.0.0", "polyform small business license 1.0.0", "small business"},
	{"EPL-2.0", "eclipse public license v 2.0", "secondary licenses"},
	{"EPL-2.0", "eclipse public license version 2.0", "secondary licenses"},
	{"EUPL-1.2", "european union public licence v. 1.2", "compatible licen"},
	{"EUPL-1.2", "european union public licence v.1.2", "compatible licen"},
	{"EUPL-1.1", "european union public licence v. 1.1", "compatible licences"},
	{"MPL-1.1", "mozilla public license version 1.1", "initial developer"},
	{"MPL-2.0", "mozilla public license version 2.0", "secondary license"},
	{"CDDL-1.0", "common development and distribution license cddl version 1.0", "initial developer"},
	{"CDDL-1.1", "common development and distribution license cddl version 1.1", "initial developer"},
	{"Apache-1.1", "apache software license version 1.1", "redistribution and use in source and binary forms"},
	{"Apache-2.0", "apache license version 2.0 january 2004", "grant of patent license"},
	{"Unicode-3.0", "unicode license v3", "data files or software"},
	{"OpenSSL", "openssl license", "openssl toolkit"},
	{"W3C-20150513", "w3c software and document notice and license", "w3c"},
	{"W3C", "w3c software notice and license", "w3c"},
	{"PDDL-1.0", "open data commons public domain dedication", "public domain"},
	{"ODbL-1.0", "open database license odbl", "derivative database"},
	{"CDLA-Permissive-2.0", "community data license agreement permissive version 2.0", "data"},
	{"MulanPSL-2.0", "mulan permissive software license version 2", "grant of patent license"},
	{"CECILL-2.1", "cecill free software license agreement version 2.1", "licensor"},
	{"CECILL-2.1", "contrat de licence de logiciel libre cecill version 2.1", "concedant"},
	{"CECILL-C", "contrat de licence de logiciel libre cecill c", "contrat"},
	{"CECILL-B", "contrat de licence de logiciel libre cecill b", "contrat"},
	{"Hippocratic-2.1", "hippocratic license 2.1", "human rights"},
	{"BlueOak-1.0.0", "blue oak model license", "version 1.0.0"},
	{"CPOL-1.02", "code project open license cpol 1.02", "articles"},
	{"OSL-3.0", "open software license v. 3.0", "external deployment"},
	{"RPL-1.5", "reciprocal public license 1.5", "deploy"},
	{"LPL-1.02", "lucent public license version 1.02", "contributor"},
	{"CC-BY-SA-3.0", "creative commons attribution sharealike 3.0 unported", "collection"},
	{"BSD-4-Clause-UC", "redistribution and use in source and binary forms", "berkeley and its contributors. 4. " +
		"neither the name"},
}

// byTitle returns the licence whose title begins a text, or "".
func byTitle(text []byte) string {
	if len(text) > 256<<10 {
		return ""
	}
	plain := signs.ReplaceAllString(strings.ToLower(accents.Replace(string(text))), " ")
	head := plain[:min(len(plain), titleWithin)]
	for _, t := range titles {
		if strings.Contains(head, t.title) && !strings.Contains(head, t.title+" modified") &&
			strings.Contains(plain, t.within) {
			return t.id
		}
	}
	return ""
}

// accents turns letters of French names of licenses into plain ones.
var accents = strings.NewReplacer("é", "e", "è", "e", "É", "E", "ê", "e", "à", "a")

// exceptions gives those of SPDX by words of them.
var exceptions = []struct{ id, words string }{
	{"Classpath-exception-2.0", "permission to link this library with independent modules to produce an executable"},
	{"GCC-exception-3.1", "gcc runtime library exception version 3.1"},
	{"GCC-exception-2.0", "unlimited permission to link the compiled version of this file into combinations with " +
		"other programs"},
	{"Bison-exception-2.2", "you may create a larger work that contains part or all of the bison parser skeleton"},
	{"Font-exception-2.0", "if you create a document which uses this font"},
	{"Autoconf-exception-3.0", "autoconf configure script exception"},
}

// grantedException returns " WITH " and the exception that a text of the GNU licences
// grants, or "".
func grantedException(text []byte) string {
	plain := signs.ReplaceAllString(strings.ToLower(string(text)), " ")
	for _, e := range exceptions {
		if strings.Contains(plain, e.words) {
			return " WITH " + e.id
		}
	}
	return ""
}
