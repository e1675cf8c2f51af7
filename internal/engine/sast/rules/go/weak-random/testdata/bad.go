package tokens

import (
	"fmt"
	"math/rand"
)

func newToken() string {
	// ruleid: weak-random
	return fmt.Sprint(rand.Int63())
}
