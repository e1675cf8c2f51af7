package endpoint

// messageBody says in words what was done.
type messageBody struct {
	Message string `json:"message"`
}

// A MessageOutput is the response of an operation that returns no data.
type MessageOutput struct{ Body messageBody }

// NewMessage returns the output with a message.
func NewMessage(message string) *MessageOutput {
	return &MessageOutput{Body: messageBody{Message: message}}
}

// outcomeBody is messageBody for clients that look for success.
type outcomeBody struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// An OutcomeOutput is a MessageOutput for clients that read the member success.
type OutcomeOutput struct{ Body outcomeBody }

// NewOutcome returns the output of an operation that succeeded.
func NewOutcome(message string) *OutcomeOutput {
	return &OutcomeOutput{Body: outcomeBody{Success: true, Message: message}}
}
