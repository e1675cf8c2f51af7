package orders

import "strconv"

func amount(text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, err
	}
	// ok: integer-truncation
	return int32(n), nil
}

func port(text string) (uint16, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 65535 {
		return 0, strconv.ErrRange
	}
	// ok: integer-truncation
	return uint16(n), nil
}
