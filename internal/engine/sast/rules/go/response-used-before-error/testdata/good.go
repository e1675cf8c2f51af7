package client

import "net/http"

func status(url string) (int, error) {
	// ok: response-used-before-error
	resp, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, nil
}
