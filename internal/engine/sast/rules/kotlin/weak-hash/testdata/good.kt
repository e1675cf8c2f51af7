fun sum(data: ByteArray): ByteArray {
    return MessageDigest.getInstance("SHA-256").digest(data)
}
