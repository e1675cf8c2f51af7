package orders

import "strconv"

func amount(text string) (int32, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, err
	}
	// ruleid: integer-truncation
	return int32(n), nil
}
