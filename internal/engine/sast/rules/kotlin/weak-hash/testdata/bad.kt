fun sum(data: ByteArray): ByteArray {
    // ruleid: weak-hash
    return MessageDigest.getInstance("MD5").digest(data)
}
