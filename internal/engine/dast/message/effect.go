package message

// An Effect says what an operation does to the application. What a scan may send of each
// kind is in package effect.
type Effect string

// The effects, from the harmless ones on.
const (
	Reads    Effect = "reads"
	SignsIn  Effect = "signs in"
	Creates  Effect = "creates an object"
	Changes  Effect = "changes what was there before"
	Settings Effect = "changes settings"
	Accounts Effect = "changes accounts or credentials"
	Messages Effect = "sends messages or publishes"
	Money    Effect = "moves money or places an order"
	Removes  Effect = "removes something"
	Ends     Effect = "ends the session or cannot be taken back"
	// Owned is the effect of a request that changes or removes an object which the scan has
	// made.
	Owned Effect = "changes an object of the scan"
)

// Restricted reports whether the effect may do harm to what was there before the scan or to
// people, so that only the profile full has it.
func (e Effect) Restricted() bool {
	switch e {
	case Changes, Settings, Accounts, Messages, Money, Removes, Ends:
		return true
	}
	return false
}
