// Package awstest is a small Amazon on loopback, for tests: users and roles with
// keys, and a registry with images. It checks signatures by its own reading of their
// specification, not with the code under test.
package awstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merlon/internal/registry/aws"
)

// A User of Amazon, or a role that is being used.
type User struct {
	// twelve digits
	Account string
	// the secret access key
	Secret string
	// the session token of a role; "" for a user
	Session string
	Policy  string // of a role that is being used
}

// A Role that may be assumed.
type Role struct {
	Trusts     string // key of the user who may
	ExternalID string // that must be named; empty: none need be
	Account    string
}

// Amazon holds users by the public part of their keys, roles by name, and images by
// repository.
type Amazon struct {
	// of the server, without a trailing slash
	URL string
	// the fixed clock, with which requests are compared
	Now time.Time
	// AssumeRole adds users; set the others before the first request
	Users  map[string]User
	Roles  map[string]Role
	Images map[string][]aws.Version

	mu    sync.Mutex
	Calls []string // what was asked, in turn
}

// New returns an Amazon with one user.
func New(t testing.TB) *Amazon {
	a := &Amazon{
		Now:    time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Users:  map[string]User{"AKIAIOSFODNN7EXAMPLE": {Account: "123456789012", Secret: "s3cret"}},
		Roles:  map[string]Role{},
		Images: map[string][]aws.Version{},
	}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.URL = s.URL
	return a
}

// Endpoint is the address of a service in a region.
func (a *Amazon) Endpoint(service string, r aws.Region) string {
	return a.URL + "/" + service + "/" + r.Name
}

// Clock is the time of this Amazon.
func (a *Amazon) Clock() time.Time { return a.Now }

// ServeHTTP implements http.Handler.
func (a *Amazon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if err != nil || len(parts) != 2 || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	key, user, code := a.caller(r, string(body), parts)
	switch {
	case code != "" && parts[0] == "sts":
		refuseQuery(w, code)
	case code != "":
		refuseJSON(w, code)
	case parts[0] == "sts":
		a.token(w, key, string(body))
	default:
		a.registry(w, r, body, user)
	}
}

// caller checks the signature
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
func (a *Amazon) caller(r *http.Request, body string, parts []string) (key string, u User, code string) {
	const refused = "InvalidSignatureException"
	var credential, signed, signature string
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	for field := range strings.SplitSeq(rest, ", ") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			signed = value
		case "Signature":
			signature = value
		}
	}
	names := strings.Split(signed, ";")
	key, within, _ := strings.Cut(credential, "/")
	stamp := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", stamp)
	// Signature version 4 requires these, and every header X-Amz-*, to be signed: an unsigned one
	// could be added on the way.
	want := []string{"host", "x-amz-date", "content-type"}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") {
			want = append(want, strings.ToLower(name))
		}
	}
	for _, name := range want {
		ok = ok && slices.Contains(names, name)
	}
	// Amazon rejects requests that are more than five minutes old (replay).
	if !ok || err != nil || !slices.IsSorted(names) || at.Sub(a.Now).Abs() > 5*time.Minute ||
		within != stamp[:8]+"/"+parts[1]+"/"+parts[0]+"/aws4_request" {
		return "", User{}, refused
	}
	user, found := a.Users[key]
	if !found {
		return "", User{}, map[string]string{"sts": "InvalidClientTokenId", "ecr": "UnrecognizedClientException"}[parts[0]]
	}
	// The canonical request: method, path, query, headers, names of the headers, hash of the body.
	text := "POST\n" + r.URL.Path + "\n\n"
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		text += name + ":" + value + "\n"
	}
	sum := sha256.Sum256([]byte(body))
	sum = sha256.Sum256([]byte(text + "\n" + signed + "\n" + hex.EncodeToString(sum[:])))
	// The signing key is derived over date, region, service and "aws4_request"; the last round
	// signs the string to sign.
	secret := []byte("AWS4" + user.Secret)
	for _, part := range append(strings.Split(within, "/"), "AWS4-HMAC-SHA256\n"+stamp+"\n"+within+"\n"+
		hex.EncodeToString(sum[:])) {
		h := hmac.New(sha256.New, secret)
		_, _ = io.WriteString(h, part)
		secret = h.Sum(nil)
	}
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(secret)), []byte(signature)) != 1 ||
		r.Header.Get("X-Amz-Security-Token") != user.Session {
		return "", User{}, map[bool]string{true: "SignatureDoesNotMatch", false: refused}[parts[0] == "sts"]
	}
	return key, user, ""
}

// refuseQuery answers as services with the older protocol refuse.
func refuseQuery(w http.ResponseWriter, code string) {
	w.WriteHeader(http.StatusForbidden)
	_, _ = fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>No.</Message></Error></ErrorResponse>`, code)
}

// refuseJSON answers as services with the newer protocol refuse.
func refuseJSON(w http.ResponseWriter, code string) {
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"__type":"com.amazonaws.ecr#%s","message":"No."}`, code)
}

// token answers for the Security Token Service.
func (a *Amazon) token(w http.ResponseWriter, key, body string) {
	q, err := url.ParseQuery(body)
	if err != nil || q.Get("Version") != "2011-06-15" {
		refuseQuery(w, "ValidationError")
		return
	}
	a.Calls = append(a.Calls, q.Get("Action"))
	switch q.Get("Action") {
	case "GetCallerIdentity":
		_, _ = fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>%s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, a.Users[key].Account)
	case "AssumeRole":
		role, ok := a.Roles[q.Get("RoleArn")]
		if !ok || role.Trusts != key || role.ExternalID != "" && role.ExternalID != q.Get("ExternalId") ||
			q.Get("RoleSessionName") == "" {
			refuseQuery(w, "AccessDenied")
			return
		}
		id := fmt.Sprintf("ASIAIOSFODNN7%07d", len(a.Users))
		a.Users[id] = User{Account: role.Account, Secret: "of " + id, Session: "session/of+" + id,
			Policy: q.Get("Policy")}
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			id, a.Users[id].Secret, a.Users[id].Session)
	default:
		refuseQuery(w, "InvalidAction")
	}
}

// Password is what the registry takes from the users of an account.
func Password(account string) string { return "password of " + account }

// registry answers for the Elastic Container Registry. Lists are cut by the token
// "from N".
func (a *Amazon) registry(w http.ResponseWriter, r *http.Request, body []byte, u User) {
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "AmazonEC2ContainerRegistry_V20150921.")
	var in struct {
		RegistryID     string
		RepositoryName string
		MaxResults     int
		NextToken      string
		Filter         struct{ TagStatus string }
	}
	if err := json.Unmarshal(body, &in); err != nil || !ok ||
		r.Header.Get("Content-Type") != "application/x-amz-json-1.1" {
		refuseJSON(w, "SerializationException")
		return
	}
	a.Calls = append(a.Calls, operation)
	if u.Policy != "" && !strings.Contains(u.Policy, `"ecr:`+operation+`"`) {
		refuseJSON(w, "AccessDeniedException")
		return
	}
	if operation == "GetAuthorizationToken" {
		token := base64.StdEncoding.EncodeToString([]byte("AWS:" + Password(u.Account)))
		answer(w, map[string]any{"authorizationData": []any{map[string]any{"authorizationToken": token}}})
		return
	}
	versions, found := a.Images[in.RepositoryName]
	from := 0
	if in.NextToken != "" {
		if n, err := fmt.Sscanf(in.NextToken, "from %d", &from); n != 1 || err != nil {
			refuseJSON(w, "InvalidParameterException")
			return
		}
	}
	switch {
	case in.RegistryID != u.Account:
		refuseJSON(w, "AccessDeniedException")
	case operation == "DescribeRepositories":
		var list []any
		for name := range a.Images {
			list = append(list, map[string]any{"repositoryName": name, "repositoryUri": "registry.example/" + name,
				"createdAt": 1.7e9})
		}
		slices.SortFunc(list, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
		part(w, "repositories", list, from, in.MaxResults)
	case operation == "DescribeImages" && !found:
		refuseJSON(w, "RepositoryNotFoundException")
	case operation == "DescribeImages" && in.Filter.TagStatus == "TAGGED":
		var list []any
		for _, v := range versions {
			list = append(list, map[string]any{"imageDigest": v.Digest, "imageTags": v.Tags, "imageSizeInBytes": v.Size,
				"imagePushedAt": float64(v.Pushed.UnixMilli()) / 1000})
		}
		part(w, "imageDetails", list, from, in.MaxResults)
	default:
		refuseJSON(w, "UnknownOperationException")
	}
}

// part answers with a part of a list, of size at most.
func part(w http.ResponseWriter, name string, list []any, from, size int) {
	to := min(from+size, len(list))
	out := map[string]any{name: list[min(from, to):to]}
	if to < len(list) {
		out["nextToken"] = fmt.Sprintf("from %d", to)
	}
	answer(w, out)
}

// answer writes the answer of a service.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(v)
}
