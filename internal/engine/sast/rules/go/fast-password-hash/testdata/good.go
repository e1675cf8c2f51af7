package users

import (
	"crypto/sha256"

	"golang.org/x/crypto/bcrypt"
)

func stored(password string) ([]byte, error) {
	// ok: fast-password-hash
	return bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
}

func sum(file []byte) [32]byte {
	// ok: fast-password-hash
	return sha256.Sum256(file)
}
