package box

import "crypto/cipher"

func seal(block cipher.Block, text []byte) []byte {
	out := make([]byte, len(text))
	// ruleid: static-initialization-vector
	cipher.NewCBCEncrypter(block, []byte("0123456789abcdef")).CryptBlocks(out, text)
	return out
}

func sealed(a cipher.AEAD, text []byte) []byte {
	// ruleid: static-initialization-vector
	return a.Seal(nil, make([]byte, 12), text, nil)
}
