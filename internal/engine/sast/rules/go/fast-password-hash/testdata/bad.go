package users

import (
	"crypto/sha256"

	"golang.org/x/crypto/bcrypt"
)

func stored(password string) [32]byte {
	// ruleid: fast-password-hash
	return sha256.Sum256([]byte(password))
}

func quick(password string) ([]byte, error) {
	// ruleid: fast-password-hash
	return bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
}
