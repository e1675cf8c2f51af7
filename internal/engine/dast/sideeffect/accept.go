package sideeffect

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merlon/internal/engine/dast/message"
	"merlon/internal/lazyregexp"
)

// This file reads from a response whether a request has created something, and where it is.

// isCreated reports whether an answer says that something was created, and where it is.
func isCreated(resp *message.Response) (created bool, where string) {
	if to := resp.Location(); to != nil {
		return isCreatedByRedirect(resp, to)
	}
	switch {
	case resp.Status == http.StatusNoContent || resp.Status == http.StatusResetContent:
		return true, ""
	case resp.Status == http.StatusCreated:
		if at, err := resp.Request.URL().Parse(resp.Header.Get("Location")); err == nil &&
			resp.Header.Get("Location") != "" {
			return true, at.String()
		}
		return true, beside(resp)
	case resp.Status < 300 && resp.IsData():
		where := beside(resp)
		return where != "" || acknowledges(message.DecodeJSON(resp.Body)), where
	case resp.Status < 300:
		return acknowledgesText(resp), ""
	}
	return false, ""
}

// isCreatedByRedirect reports whether a redirect leads to what was created. One to a sign-in
// refuses the request, unless it follows a sign-in or a registration; then it is a page for
// everybody, not that of the account.
func isCreatedByRedirect(resp *message.Response, to *url.URL) (created bool, where string) {
	r, err := message.FromURL(to)
	if err != nil || r.Host != resp.Request.Host {
		return false, ""
	}
	if isSignInAddress(to) {
		return isSignInAddress(resp.Request.URL()) || isRegistration(resp.Request), ""
	}
	return true, r.Address()
}

// acknowledgesText reports whether a response without data says no more than that something
// was done: nothing at all, or a few words.
func acknowledgesText(resp *message.Response) bool {
	text := strings.TrimSpace(resp.Text())
	return text == "" && !resp.Truncated || !resp.IsHTML() && len(text) <= maxAcknowledgement && reportsSuccess(text)
}

// maxAcknowledgement bounds a text that says no more than that something was done.
const maxAcknowledgement = 200

var (
	// successWords are words by which applications in English, German, French, Spanish, Italian and
	// Portuguese say that they have stored what was sent.
	successWords = lazyregexp.New(`(?i)\b(?:ok|okay|success|successful|successfully|succeeded|done|created|added|saved|stored|inserted|posted|submitted|received|accepted|recorded|registered|uploaded|thanks|thank you` +
		`|gespeichert|angelegt|erstellt|hinzugefügt|eingetragen|hochgeladen|erfolgreich|danke` +
		`|ajout[ée]e?|créée?|enregistr[ée]e?|reçue?|envoy[ée]e?|merci|succès` +
		`|guardad[oa]|cread[oa]|añadid[oa]|agregad[oa]|recibid[oa]|enviad[oa]|gracias|éxito` +
		`|salvat[oa]|creat[oa]|aggiunt[oa]|inviat[oa]|ricevut[oa]|grazie|successo` +
		`|salv[oa]|criad[oa]|adicionad[oa]|recebid[oa]|obrigad[oa]|sucesso)(?:\PL|$)`)
	// failureWords are words by which they say that they have not.
	failureWords = lazyregexp.New(`(?i)\b(?:not|no|never|cannot|can't|could|errors?|fails?|failed|failure|invalid|denied|refused|missing|required|unsuccessful|unable|wrong` +
		`|nicht|fehler|ungültig|fehlt|pas|erreur|échec|invalide|manquant|falló|inválid[oa]|falta|non|errore|fallit[oa]|manca|não|erro|falhou)(?:\PL|$)`)
	markupTag = lazyregexp.New(`<[^>]{0,500}>`)
)

// reportsSuccess reports whether a text says that something was stored.
func reportsSuccess(text string) bool {
	return successWords.MatchString(text) && !failureWords.MatchString(text)
}

// ReportsSuccess reports whether a page says that what a form has sent was stored: it has a line of
// text that says so, which the page of the form has not.
func ReportsSuccess(page, form *message.Response) bool {
	before := form.Text()
	for line := range strings.Lines(page.Text()) {
		for text := range strings.SplitSeq(markupTag.ReplaceAllString(line, "\x00"), "\x00") {
			text = strings.TrimSpace(text)
			if text != "" && len(text) <= maxAcknowledgement && reportsSuccess(text) &&
				!strings.Contains(before, text) {
				return true
			}
		}
	}
	return false
}

// acknowledges reports whether data says no more than that something was done, as
// {"status": "ok"} does: what computes something shows a result.
func acknowledges(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return len(v) <= maxAcknowledgement && reportsSuccess(v)
	case map[string]any:
		says := false
		for name, value := range v {
			said, other := acknowledgesMember(strings.ToLower(name), value)
			if other {
				return false
			}
			says = says || said
		}
		return says
	}
	return false
}

// acknowledgesMember reports whether a member of an object says that something was done, and
// whether it says something else, such as a result or an error.
func acknowledgesMember(name string, value any) (says, other bool) {
	text, _ := value.(string)
	switch name {
	case "createdat", "created_at", "datecreated", "date_created", "insertedat", "inserted_at":
		return text != "", false
	case "status", "success", "ok", "result", "message", "msg", "detail", "state", "info", "response":
		says = value == true || acknowledges(text)
		return says, value == false || failureWords.MatchString(text)
	case "code", "statuscode", "status_code", "timestamp", "time", "path":
		return false, false
	case "error", "errors":
		list, isList := value.([]any)
		return false, value != nil && value != false && value != "" && (!isList || len(list) > 0)
	case "data":
		return value != nil && acknowledges(value), value != nil && !acknowledges(value)
	}
	return false, true
}

// repeats reports whether data is a list of the one object that was sent, with an identifier.
func repeats(resp *message.Response, mark string) bool {
	list, _ := message.DecodeJSON(resp.Body).([]any)
	if len(list) != 1 || resp.Status >= 300 || !resp.IsData() {
		return false
	}
	object, _ := list[0].(map[string]any)
	return identifier(object) != "" && strings.Contains(resp.Text(), mark)
}

// beside is the address that an object most likely has whose identifier an answer names: that
// of the list with the identifier behind it. Empty: it names none.
func beside(resp *message.Response) string {
	v, _ := message.DecodeJSON(resp.Body).(map[string]any)
	id := identifierBelow(v, maxBelow)
	if id == "" {
		return ""
	}
	return strings.TrimRight(resp.Request.Base()+resp.Request.Path, "/") + "/" + id
}

// maxBelow is how deep an object may stand in an answer that names what was created, as in
// {"data": {"note": {"id": 7}}}.
const maxBelow = 2

// identifierBelow is the identifier of an object, or of one that it holds.
func identifierBelow(v map[string]any, depth int) string {
	if id := identifier(v); id != "" || depth == 0 {
		return id
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if below, is := v[name].(map[string]any); is {
			if id := identifierBelow(below, depth-1); id != "" {
				return id
			}
		}
	}
	return ""
}

// identifier is that of an object; empty: it has none. A member such as note_id names it where
// the object has hardly anything else.
func identifier(v map[string]any) string {
	for _, name := range []string{"id", "_id", "uuid", "guid", "ID", "Id", "slug"} {
		if id := plainValue(v[name]); id != "" {
			return id
		}
	}
	found := ""
	for name, value := range v {
		if strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID") {
			if found != "" {
				return "" // it tells how things belong together
			}
			found = plainValue(value)
		}
	}
	if len(v) > maxFew {
		return ""
	}
	return found
}

// maxFew is how many members an object has at most that says little more than an identifier.
const maxFew = 3

// plainValue is a value as text; empty: it is none, or none that names something.
func plainValue(value any) string {
	switch value.(type) {
	case nil, map[string]any, []any, bool:
		return ""
	}
	if text := fmt.Sprint(value); len(text) <= 100 {
		return text
	}
	return ""
}
