package sarif

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const liveStream = `{"config":{"tool":"merlon","version":"1","root":"http://shop.example/","files":0,"started":"2026-01-01T00:00:00Z","analyses":["dast"],"analyzers":["dast/application"],"target":"http://shop.example/"}}
{"rule":{"id":"dast/sqlinjection/error","analysis":"dast","name":"n","shortDescription":"s","description":"d","howToPrevent":"h","cwe":["CWE-89"],"severity":"critical","confidence":"high","language":""}}
{"finding":{"ruleId":"dast/sqlinjection/error","analyzer":"dast/application","analysis":"dast","severity":"critical","message":"It is part of a statement.","language":"","location":{"path":"shop.example/search","startLine":0,"endLine":0},"steps":[{"kind":"source","location":{"path":"app.py","startLine":3,"endLine":3}}],"live":{"url":"http://shop.example/search","method":"POST","parameter":"q","in":"form","payload":"'","proof":["a"],"exchanges":[{"request":"GET / HTTP/1.1\r\nHost: x\r\n\r\n","response":"HTTP/1.1 200 OK\r\n\r\n","duration":1},{"request":"POST /search?a=b HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nq=%27","response":"HTTP/2.0 500 Internal Server Error\r\nX-A: 1\r\nX-A: 2\r\n\r\nnear \"'\": syntax error","duration":1}],"curl":"curl -i x","code":{"handler":{"path":"app.py","startLine":2,"endLine":9},"flaw":{"ruleId":"sast/all/sql-injection","location":{"path":"app.py","startLine":4,"endLine":4},"fingerprint":{"place":"p","flaw":"f"}}}},"fingerprint":{"place":"x","flaw":"y"}}}
{"status":{"analyzer":"dast/application","analysis":"dast","state":"succeeded","reasons":[],"omitted":0,"files":0,"findings":1,"duration":1}}
`

// A live finding shows both sides: the request with its answer, and the code.
func TestLive(t *testing.T) {
	got := write(t, liveStream)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(doc); err != nil {
		t.Errorf("not valid: %#v", err)
	}
	var report struct {
		Runs []struct{ Results []resultObject }
	}
	if err := json.Unmarshal(got, &report); err != nil {
		t.Fatal(err)
	}
	r := report.Runs[0].Results[0]
	q, a := r.Request, r.Response
	if q == nil || q.Method != "POST" || q.Target != "/search?a=b" || q.Protocol != "HTTP" || q.Version != "1.1" ||
		q.Headers["Host"] != "shop.example" || q.Body.Text != "q=%27" || q.Parameters["q"] != "'" {
		t.Errorf("request %+v", q)
	}
	if a == nil || a.Status != 500 || a.Version != "2.0" || a.Phrase != "Internal Server Error" ||
		a.Headers["X-A"] != "1, 2" || !strings.Contains(a.Body.Text, "syntax") {
		t.Errorf("answer %+v", a)
	}
	if at := r.Locations[0].Physical; at.Artifact.URI != "app.py" || at.Region.StartLine != 4 {
		t.Errorf("location %+v", at)
	}
	if len(r.Related) != 2 || r.Related[1].Physical.Artifact.URI != "http://shop.example/search" ||
		r.Related[1].Physical.Artifact.Base != "" || len(r.CodeFlows) != 1 {
		t.Errorf("related %+v", r.Related)
	}
	live, _ := r.Properties["live"].(map[string]any)
	if live["curl"] != "curl -i x" || live["parameter"] != "q" {
		t.Errorf("properties %v", r.Properties)
	}

	// What cannot be read as a message is left to the properties.
	for _, broken := range []string{"", "nonsense", "GET /"} {
		if readResponse(broken) != nil || readRequest(broken, nil) != nil {
			t.Errorf("%q was read", broken)
		}
	}
}
