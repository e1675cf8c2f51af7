package web

import "github.com/golang-jwt/jwt/v5"

func who(text string) (string, error) {
	claims := jwt.MapClaims{}
	// ruleid: unsigned-jwt
	_, _, err := jwt.NewParser().ParseUnverified(text, claims)
	if err != nil {
		return "", err
	}
	return claims.GetSubject()
}

func key(token *jwt.Token) (any, error) {
	// ruleid: unsigned-jwt
	return jwt.UnsafeAllowNoneSignatureType, nil
}
