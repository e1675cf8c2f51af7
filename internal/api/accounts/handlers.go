// Package accounts serves the operations on users, personal access tokens and
// service accounts.
package accounts

import "merlon/internal/api/endpoint"

// Handlers serves the operations on users, tokens and service accounts.
type Handlers struct {
	*endpoint.Server
	Users   Users
	Tokens  Tokens
	Tenancy Accounts
}
