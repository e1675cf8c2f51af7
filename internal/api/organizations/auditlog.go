package organizations

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"merlon/internal/api/endpoint"
	"merlon/internal/audit"
	"merlon/internal/tenant"
)

// AuditLog is what the API needs of the store for the audit log.
type AuditLog interface {
	AuditLog(ctx context.Context, sc tenant.Scope, q audit.Query) ([]audit.Record, error)
	// ExportAudit calls each for every record with a higher number, in their order.
	ExportAudit(ctx context.Context, chain tenant.OrganizationID, after int64, each func(audit.Record) error) error
}

// auditRecordBody is a record with its hash, so that readers can verify the chain.
type auditRecordBody struct {
	Seq   int64  `json:"seq" doc:"Sequence number, from 1 without gaps."`
	At    string `json:"at" format:"date-time"`
	Actor string `json:"actor" doc:"User ID of the actor; empty for the service itself."`
	// OAuth client ID of the application; empty for the service itself.
	Client     string `json:"client"`
	IP         string `json:"ip"`
	Action     string `json:"action"`
	TargetKind string `json:"targetKind"`
	// ID of what the action changed, of the kind beside it.
	Target string         `json:"target"`
	Detail map[string]any `json:"detail"`
	Hash   string         `json:"hash"`
}

// listAuditInput filters and pages the audit log.
type listAuditInput struct {
	endpoint.OrganizationInput
	Cursor string    `query:"cursor" maxLength:"40" doc:"nextCursor of the previous page."`
	Limit  int       `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Actor  string    `query:"actor" maxLength:"100" doc:"User ID of the actor."`
	Action string    `query:"action" maxLength:"100" doc:"Action, such as team.create, or a prefix that selects all actions of a resource: team."`
	From   time.Time `query:"from" doc:"Only records at or after this time."`
	To     time.Time `query:"to" doc:"Only records before this time."`
}

// auditOutput is a page of the log.
type auditOutput struct {
	Body struct {
		Records    []auditRecordBody `json:"records" doc:"Records, newest first."`
		NextCursor string            `json:"nextCursor" doc:"Cursor of the next page; empty on the last page."`
	}
}

// ListAudit lists records of the audit log, newest first. It reads one record more than the
// page has, to know whether there is a next page.
func (a *Handlers) ListAudit(ctx context.Context, sc tenant.Scope, in *listAuditInput) (*auditOutput, error) {
	before, err := parseCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := a.Tenancy.AuditLog(ctx, sc, audit.Query{
		Actor: endpoint.ParseUserID(in.Actor), Action: in.Action, From: in.From, To: in.To, Before: before,
		Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	out := &auditOutput{}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.Body.NextCursor = encodeCursor(list[in.Limit-1].Seq)
	}
	out.Body.Records = make([]auditRecordBody, 0, len(list))
	for _, r := range list {
		b := auditRecordBody{Seq: r.Seq, At: r.At, Actor: r.Actor, Client: r.Client, IP: r.IP,
			Action: r.Action, TargetKind: r.TargetKind, Target: r.Target, Hash: r.Hash}
		if err := json.Unmarshal([]byte(r.Detail), &b.Detail); err != nil {
			return nil, err
		}
		out.Body.Records = append(out.Body.Records, b)
	}
	return out, nil
}

// encodeCursor writes the number of the last record of a page. The cursor is
// opaque to clients, so that its encoding may change.
func encodeCursor(seq int64) string {
	// The letter is the version of the encoding.
	return base64.RawURLEncoding.EncodeToString([]byte("a" + strconv.FormatInt(seq, 10)))
}

// parseCursor is the inverse of cursor; 0 for none.
func parseCursor(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && strings.HasPrefix(string(raw), "a") {
		if seq, err := strconv.ParseInt(string(raw[1:]), 10, 64); err == nil && seq > 0 {
			return seq, nil
		}
	}
	return 0, endpoint.Invalid("query.cursor", "invalid cursor: use the nextCursor of a previous page")
}

// exportAuditInput selects where an export begins: a copy outside is continued without gaps.
type exportAuditInput struct {
	endpoint.OrganizationInput
	After int64 `query:"after" minimum:"0" doc:"Only records with a higher sequence number."`
}

// ExportAudit responds with the whole chain, oldest record first.
func (a *Handlers) ExportAudit(ctx context.Context, sc tenant.Scope,
	in *exportAuditInput) (*huma.StreamResponse, error) {
	return a.Lines("audit-"+string(sc.Organization)+".ndjson", func(line func(any) error) error {
		return a.Tenancy.ExportAudit(ctx, sc.Organization, in.After, func(r audit.Record) error { return line(r) })
	}), nil
}
