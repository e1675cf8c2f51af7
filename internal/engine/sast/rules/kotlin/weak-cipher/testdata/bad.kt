fun cipher(): Cipher {
    // ruleid: weak-cipher
    return Cipher.getInstance("AES/ECB/PKCS5Padding")
}
